"""What a kernel may call: signatures and documentation. What each one emits is in `headrace.language.lowering`."""
