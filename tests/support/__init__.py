"""What tests of several files share; a module is one concept."""
