"""What only compiled code calls is optimised and translated as a part of its caller, once.

Numba optimises each function with all that it calls and generates machine code for it, and does the
same again for its caller, and for the caller of that. Within `compiled` everything but the function
asked for is left as it was lowered: its caller links, optimises and translates it. It gets machine
code of its own when it is called from Python, or when its address is asked for.
"""

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from weakref import WeakValueDictionary

from llvmlite.binding import Linkage, parse_assembly
from numba.core.caching import Cache
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.targetconfig import ConfigStack
from numba.experimental.jitclass import boxing

from ..interrupts import put_off
from .interpreter import at_full_speed
from .large_functions import quickly
from .meaning import note_compiled, reached
from .memo import enter, look_again
from .recursive_calls import DirectCalls, check_promise, put_in_addresses
from .stack_zeros import drop_unread_zeros

UNRESOLVED = ".numba.unresolved$"  # what a recursive function calls itself by: an address
_ENVIRONMENT = "_ZN08NumbaEnv"  # where the Python objects of what prints, say, are found
_ENTRY = "_ZN7cpython"  # the function that Python calls
_C_ENTRY = "cfunc."  # the function that C calls
_WRAPPERS = "wrapper", "cfunc_wrapper"  # the modules of the functions that Python and C call
_ADDRESSED = (
    "__numba_array_expr_0x"  # Numba names a fused expression by an address, here of another process
)
_WAITING = (
    "__numbad_waiting__"  # the functions of a dispatcher that wait, by their arguments' types
)

_DEFINED_BY = WeakValueDictionary()  # the name of a function -> the library that waits


class LinkedLibrary(JITCodeLibrary):
    """A library without machine code until it is asked for."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.waits = True
        self.calls_itself = False  # or what is not compiled yet, and calls it
        self.entries = []  # the modules of what is called from elsewhere; callers need none
        self.when_finished = []  # functions to be called when there is machine code
        self.when_linked = None  # called with the library, its parts linked, before it is optimised
        self._copied = []  # the names of the functions of which callers get copies
        self._reads_environment = False
        self._environments = {}  # the name of a variable -> what it is to hold

    def lowered(self, own=()):
        """The code as it was lowered, with its parts but for those of its `own`: for `add_lowered`."""
        self._finish_changed()
        module = self._final_module.clone()
        _link_as(module, self._copied, Linkage.external)
        for part in _parts(self, own):
            module.link_in(_as_lowered(part), preserve=True)
        return module

    def initialisers(self, own=()):
        """What is to be called once, in another process, before the code runs: the parts' as well."""
        libraries = self, *_parts(self, own)
        return tuple(
            {call for library in libraries for call in vars(library).get("_reload_init", ())}
        )

    def add_environments(self, environments):
        """Take what the variables of code from elsewhere are to hold."""
        self._reads_environment |= bool(environments)
        self._environments |= {one.env_name: one for one in environments}

    def add_initialisers(self, calls):
        vars(self).get("_reload_init", set()).update(calls)

    def add_lowered(self, module, symbols, renumber):
        """Add the code of another library, calling by other `symbols`, under names of its own."""
        for value in (*module.functions, *module.global_variables):
            value.name = symbols.get(value.name) or renumber(value.name)
            if _ADDRESSED in value.name:
                value.name += f".{renumber.number}"
        self._note_names(module)
        self._reads_environment |= bool(environments_read(module))
        self._final_module.link_in(module)

    def parts(self, own=()):
        """What it links, and what this links in turn if it waits, but for its `own`."""
        return _parts(self, own)

    def _note_names(self, module):
        _DEFINED_BY.update({f.name: self for f in module.functions if not f.is_declaration})

    def add_ir_module(self, ir_module):
        for function in ir_module.functions:
            drop_unread_zeros(function)
        if self.waits and ir_module.name in _WRAPPERS:
            self.entries.append(ir_module)
        else:
            super().add_ir_module(ir_module)

    def add_llvm_module(self, ll_module):
        self._reads_environment |= bool(environments_read(ll_module))
        if self.waits:
            self._note_names(ll_module)
        super().add_llvm_module(ll_module)  # after which the module is empty

    @property
    def codegen(self):
        return self if self.waits else super().codegen

    def set_env(self, name, environment):
        """Numba's `Codegen.set_env`, put off: the variable has no address yet."""
        self._environments[name] = environment

    @property
    def has_dynamic_globals(self):
        self._ensure_finalized()
        libraries = [self, *_parts(self)] if self.waits else []
        return bool(self._dynamic_globals) or any(part._dynamic_globals for part in libraries)

    def finalize(self):
        """Numba's `finalize`, but what waits links nothing: its caller links its parts too, once."""
        self._raise_if_finalized()
        for library in self._linking_libraries:
            loads = vars(library).get("_reload_init", ())  # older versions of Numba have none
            vars(self).get("_reload_init", set()).update(loads)
        names = (variable.name for variable in self._final_module.global_variables)
        if self.waits and not any(name.startswith(UNRESOLVED) for name in names):
            self._finalize_dynamic_globals()
            self._copied = _exported(self._final_module)
            _link_as(self._final_module, self._copied, Linkage.linkonce_odr)
            self._finalized = True
        else:
            self._generate()

    def _get_module_for_linking(self):
        """Numba's, with the parts: for callers that are compiled outside of `compiled`."""
        self._ensure_finalized()
        changed = self.when_linked is not None or bool(self.environments())
        if self.waits and self._shared_module is None and changed:
            self.finish()  # a caller like that changes nothing, and puts nothing into the variables
        if self.waits and self._shared_module is None:
            own, self._final_module = self._final_module, self._final_module.clone()
            self._link_parts()
            super()._get_module_for_linking()
            self._final_module = own
        return super()._get_module_for_linking()

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
        self._generate()
        while self.when_finished:
            self.when_finished.pop()()

    def _generate(self):
        """Machine code of what the library has, what is called from elsewhere, and their parts."""
        self.waits = False
        _link_as(self._final_module, self._copied, Linkage.external)
        with put_off():
            while self.entries:
                self._add_entry(self.entries.pop())
            self._link_parts()
            if self.when_linked is not None:
                self.when_linked(self)
            self._define_entries()
            self._optimize_final_module()
            self._final_module.verify()
            environments = self.environments() | self._environments
            with quickly(self._final_module):
                self._finalize_final_module()
            for name, environment in environments.items():
                self._codegen.set_env(name, environment)
            self._environments |= environments  # which the code holds no references to

    def environments(self, own=()):
        """What this code and its parts read as environments, but for its `own`: by the variable's name."""
        found = {}
        for library in (self, *_parts(self, own)):
            if waits(library) and library._reads_environment:
                found |= library._environments
        return found

    def _add_entry(self, entry):
        if isinstance(entry, Wrapper):
            self.add_llvm_module(entry.parsed())
        else:
            self.add_ir_module(entry)

    def _define_entries(self):
        """What C calls of functions that are chosen among at run time.

        Numba puts its address beside that of the function itself, by which compiled code calls it; so
        that it is read nowhere, but has to be found where LLVM optimises nothing.
        """
        missing = {f.name for f in self._final_module.functions if f.is_declaration}
        missing = {name for name in missing if name.startswith(_C_ENTRY)}
        for part in filter(waits, _parts(self)) if missing else ():
            names = {f.name for module in part.entries for f in module.functions}
            if missing & names:
                part.finish()
                missing -= names
        if missing:
            stubs = "".join(f'define weak void @"{name}"() {{ unreachable }}\n' for name in missing)
            self._final_module.link_in(parse_assembly(stubs))

    def _finish_changed(self):
        """Give machine code to parts whose code is to be changed before, where that of this one is not."""
        if self.when_linked is None:
            for part in _parts(self):
                if waits(part) and part.when_linked is not None:
                    part.finish()

    def _link_parts(self):
        self._finish_changed()
        for part in _parts(self):
            self._final_module.link_in(_as_lowered(part), preserve=True)


@dataclass(frozen=True)
class Wrapper:
    """The module of a function that Python or C calls, as `LinkedLibrary.entries` has them."""

    name: str
    text: str
    functions: tuple

    @classmethod
    def of(cls, module):
        functions = tuple(SimpleNamespace(name=function.name) for function in module.functions)
        return cls(module.name, str(module), functions)

    def renamed(self, renumber):
        functions = tuple(SimpleNamespace(name=renumber(f.name)) for f in self.functions)
        return Wrapper(self.name, renumber(self.text), functions)

    def parsed(self):
        module = parse_assembly(normalize_ir_text(self.text))
        module.name = self.name
        return module


def _exported(module):
    """The names of the functions that are defined for other modules."""
    functions = (f for f in module.functions if not f.is_declaration)
    return [f.name for f in functions if f.linkage == Linkage.external]


def _link_as(module, names, linkage):
    for name in names:
        module.get_function(name).linkage = linkage


def _as_lowered(part):
    return part._final_module if waits(part) else part._get_module_for_linking()


def _parts(library, leave_out=()):
    """The libraries that one links, and what these link if they wait: each after all its callers."""
    found = {}

    def visit(part):
        for other in dict.fromkeys(part._linking_libraries):
            if other not in found and other not in leave_out:
                if waits(other):
                    visit(other)
                found[other] = None

    visit(library)
    return list(reversed(found))


def environments_read(module):
    """The names of the variables in which code finds its environments, where it reads any."""
    names = [v.name for v in module.global_variables if v.name.startswith(_ENVIRONMENT)]
    text = str(module) if names else ""
    return [name for name in names if text.count(name) > 1]


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
        return _compiled(codegen, dispatcher, compile_it, sig)


@at_full_speed
def _compiled(codegen, dispatcher, compile_it, sig):
    look_again(dispatcher)
    add_overload, load_overload = Dispatcher.add_overload, Cache.load_overload
    _forget_loaded(dispatcher)
    codegen.create_library = partial(_create, codegen)
    Dispatcher.add_overload = lambda self, cres: _add_overload(add_overload, self, cres)
    Cache.load_overload = lambda *_: None
    try:
        try:
            with DirectCalls():
                entry = compile_it(sig)
        finally:
            Dispatcher.add_overload, Cache.load_overload = add_overload, load_overload
            del codegen.create_library
        return _entered(dispatcher, entry)
    finally:
        _finish_recursive(codegen)


def _forget_loaded(dispatcher):
    """Have functions compiled anew that Numba took from its own cache, which does not see what they mean now.

    Its key is the file that a function stands in, not what is imported there. Python goes on to call what
    it calls. What has its signatures given stays: Numba compiles nothing more of it.
    """
    for function in reached(dispatcher):
        hits = getattr(function, "_cache_hits", None)
        if hits and function._can_compile and isinstance(function._cache, Cache):
            for signature in list(hits):
                function.overloads.pop(tuple(getattr(signature, "args", signature)), None)
            hits.clear()


def _create(codegen, name, **options):
    """Numba's `create_library`, where code waits; what is compiled in object mode is called from Python."""
    flags = ConfigStack.top_or_none()
    kind = JITCodeLibrary if flags is not None and flags.force_pyobject else LinkedLibrary
    return kind(codegen, name, **options)


class LinkingDispatcher(CPUDispatcher):
    """A compiled function that is optimised with all that it calls, once."""

    def compile(self, sig):
        return compiled(self, super().compile, sig)


PLAIN = CPUDispatcher, LinkingDispatcher
"""The classes of functions that are their code and no more: those of `njit`, and of numbad's own `jit`."""


def _finish_recursive(codegen):
    """Give machine code to what recursive functions call by its address; others may call these as well."""
    for name in list(codegen._rtlinker._unresolved):
        library = _DEFINED_BY.get(name)
        if library is not None and library._finalized:  # not where an error interrupted it
            library.finish()


def _add_overload(add_overload, dispatcher, cres):
    """Numba's `Dispatcher.add_overload`, but Python does not get to know what waits.

    What calls itself gets machine code: of other argument types it may call this by its address, anywhere.
    """
    check_promise(dispatcher, cres)
    _add(add_overload, dispatcher, cres)
    put_in_addresses(dispatcher, cres, cpu_target.target_context.codegen()._rtlinker)
    if waits(cres.library) and cres.library.calls_itself:
        cres.library.finish()


def _add(add_overload, dispatcher, cres):
    if not (waits(cres.library) and cres.library.entries):
        add_overload(dispatcher, cres)
        return
    dispatcher.overloads[tuple(cres.signature.args)] = cres
    enter(dispatcher, cres)
    dispatcher._compile_for_args = partial(_enter_all, dispatcher)
    _waiting(dispatcher)[tuple(cres.signature.args)] = cres
    note_compiled(dispatcher, tuple(cres.signature.args))


def _specialize_box(typ):
    """Numba's, which takes what it compiles for Python to read fields by at once: nothing of it waits."""
    codegen = cpu_target.target_context.codegen()
    create = vars(codegen).pop("create_library", None)
    try:
        return _numbas_specialize_box(typ)
    finally:
        if create is not None:
            codegen.create_library = create


_numbas_specialize_box, boxing._specialize_box = boxing._specialize_box, _specialize_box


def _waiting(dispatcher):
    return vars(dispatcher).setdefault(_WAITING, {})


def _enter_all(dispatcher, *args, **kws):
    """Numba's `Dispatcher._compile_for_args`, where compiled functions of a dispatcher have waited."""
    with global_compiler_lock:
        waiting = _waiting(dispatcher)
        while waiting:
            _enter(dispatcher, waiting.popitem()[1])
        vars(dispatcher).pop("_compile_for_args", None)
    return dispatcher._compile_for_args(*args, **kws)


def _entered(dispatcher, entry):
    """What Python calls for a function that has been compiled."""
    waiting = _waiting(dispatcher)
    for args, cres in list(waiting.items()):
        if cres.entry_point is entry:
            return _enter(dispatcher, waiting.pop(args)).entry_point
    return entry


def _enter(dispatcher, cres):
    """Generate the code of a function that waits, and let Python call it.

    What could not be generated is compiled anew by the next call.
    """
    with put_off():
        try:
            return _let_call(dispatcher, cres)
        except BaseException:
            dispatcher.overloads.pop(tuple(cres.signature.args), None)
            raise


def _let_call(dispatcher, cres):
    cres.library.finish()
    context = cres.target_context
    entry = context.get_executable(cres.library, cres.fndesc, cres.environment)
    context.insert_user_function(entry, cres.fndesc, [cres.library])
    cres = cres._replace(entry_point=entry)
    args = tuple(cres.signature.args)
    dispatcher.overloads[args] = cres
    enter(dispatcher, cres)
    dispatcher._insert([ty._code for ty in args], entry, cres.objectmode)
    return cres
