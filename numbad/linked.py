"""What only compiled code calls is optimised and translated as a part of its caller, once.

Numba optimises each function with all that it calls and generates machine code for it, and does the
same again for its caller, and for the caller of that. Within `compiled` everything but the function
asked for is left as it was lowered: its caller links, optimises and translates it. It gets machine
code of its own when it is called from Python, or when its address is asked for.
"""

from functools import partial
from weakref import WeakValueDictionary

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

_UNRESOLVED = ".numba.unresolved$"  # what a recursive function calls itself by: an address
_ENVIRONMENT = "_ZN08NumbaEnv"  # where the Python objects of what prints, say, are found
_ENTRY = "_ZN7cpython"  # the function that Python calls
_WRAPPERS = "wrapper", "cfunc_wrapper"  # the modules of the functions that Python and C call
_WAITING = "__numbad_waiting__"  # the attribute of a dispatcher with its functions that wait

_DEFINED_BY = WeakValueDictionary()  # the name of a function -> the library that waits


class LinkedLibrary(JITCodeLibrary):
    """A library without machine code until it is asked for."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.waits = True
        self.entries = []  # the modules of what is called from elsewhere; callers need none
        self.when_finished = []  # functions to be called when there is machine code
        self._environment = None

    def add_ir_module(self, ir_module):
        if self.waits and ir_module.name in _WRAPPERS:
            self.entries.append(ir_module)
        else:
            super().add_ir_module(ir_module)

    def add_llvm_module(self, ll_module):
        self.waits = self.waits and not _needs_environment(ll_module)
        if self.waits:
            names = (
                function.name for function in ll_module.functions if not function.is_declaration
            )
            _DEFINED_BY.update(dict.fromkeys(names, self))
        super().add_llvm_module(ll_module)  # after which the module is empty

    @property
    def codegen(self):
        return self if self.waits else super().codegen

    def set_env(self, name, environment):
        """Numba's `Codegen.set_env`, put off: the variable has no address yet."""
        self._environment = name, environment

    def _optimize_final_module(self):
        names = (variable.name for variable in self._final_module.global_variables)
        if self.waits and any(name.startswith(_UNRESOLVED) for name in names):
            self._add_entries()
        if not self.waits:
            super()._optimize_final_module()

    def _finalize_final_module(self):
        if not self.waits:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def _set_compiled_object(self, value):
        self.waits = False  # it comes from the disk, with its machine code
        super()._set_compiled_object(value)

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        if self.waits:
            if name.startswith(_ENTRY):
                return 0
            self.finish()
        return super().get_pointer_to_function(name)

    def serialize_using_object_code(self):
        self.finish()
        return super().serialize_using_object_code()

    def finish(self):
        """Do what Numba does at once, if it is not done."""
        self._ensure_finalized()
        if not self.waits:
            return
        self._shared_module = None  # what callers link has the entries from here on, as on disk
        self._finalized = False
        self._dynamic_globals.clear()
        self._add_entries()
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        if self._environment is not None:
            self._codegen.set_env(*self._environment)
        while self.when_finished:
            self.when_finished.pop()()

    def _add_entries(self):
        """Add what is called from elsewhere, and what that alone calls: to take a dict apart, say."""
        self.waits = False
        while self.entries:
            self.add_ir_module(self.entries.pop())
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)


def _needs_environment(module):
    """Whether code reads its environment, for which the variable must have an address."""
    names = [v.name for v in module.global_variables if v.name.startswith(_ENVIRONMENT)]
    text = str(module) if names else ""
    return any(text.count(name) > 1 for name in names)


def waits(library):
    """Whether a library has no machine code yet."""
    return getattr(library, "waits", False)


def finish_parts(library):
    """Give machine code to those parts of a library that are to be kept on disk once they have it."""
    seen, pending = set(), [library]
    while pending:
        for part in pending.pop()._linking_libraries:
            if part in seen or not waits(part):
                continue
            seen.add(part)
            if part.when_finished:
                part.finish()
            else:
                pending.append(part)


def compiled(dispatcher, compile_it, sig):
    """`compile_it(sig)`, which compiles a dispatcher, with all that it calls left to its callers."""
    with global_compiler_lock:
        codegen = cpu_target.target_context.codegen()
        if "create_library" in vars(codegen):  # within another
            return compile_it(sig)
        add_overload = Dispatcher.add_overload
        codegen.create_library = partial(LinkedLibrary, codegen)
        Dispatcher.add_overload = lambda self, cres: _add_overload(add_overload, self, cres)
        try:
            entry = compile_it(sig)
        finally:
            Dispatcher.add_overload = add_overload
            del codegen.create_library
        entry = _entered(dispatcher, entry)
        for name in list(codegen._rtlinker._unresolved):
            if name in _DEFINED_BY:  # a recursive function calls it by its address
                _DEFINED_BY[name].finish()
        return entry


def _add_overload(add_overload, dispatcher, cres):
    """Numba's `Dispatcher.add_overload`, but Python does not get to know what waits."""
    if not (waits(cres.library) and cres.library.entries):
        add_overload(dispatcher, cres)
        return
    dispatcher.overloads[tuple(cres.signature.args)] = cres
    dispatcher._compile_for_args = partial(_enter_all, dispatcher)
    vars(dispatcher).setdefault(_WAITING, []).append(cres)


def _enter_all(dispatcher, *args, **kws):
    """Numba's `Dispatcher._compile_for_args`, where compiled functions of a dispatcher have waited."""
    with global_compiler_lock:
        for cres in vars(dispatcher).pop(_WAITING, ()):
            _enter(dispatcher, cres)
        vars(dispatcher).pop("_compile_for_args", None)
    return dispatcher._compile_for_args(*args, **kws)


def _entered(dispatcher, entry):
    """What Python calls for a function that has been compiled."""
    waiting = vars(dispatcher).get(_WAITING, [])
    for cres in [c for c in waiting if c.entry_point is entry]:
        waiting.remove(cres)
        return _enter(dispatcher, cres).entry_point
    return entry


def _enter(dispatcher, cres):
    """Generate the code of a function that waits, and let Python call it."""
    cres.library.finish()
    context = cres.target_context
    entry = context.get_executable(cres.library, cres.fndesc, cres.environment)
    context.insert_user_function(entry, cres.fndesc, [cres.library])
    cres = cres._replace(entry_point=entry)
    args = tuple(cres.signature.args)
    dispatcher.overloads[args] = cres
    dispatcher._insert([ty._code for ty in args], entry, cres.objectmode)
    return cres
