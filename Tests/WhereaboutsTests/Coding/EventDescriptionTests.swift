import TestSupport
import Testing

/// PyPI `pycddl` judges the stored forms by their description.
@Suite struct EventDescriptionTests {
    @Test(.enabled(if: Foreign.hasPython(with: "pycddl, cbor2"), "There is no Python with pycddl and cbor2."))
    func `events_cddl describes every form that version 1 can store, and nothing of another type`() throws {
        let root = Repository.root
        let program = """
            import cbor2, pycddl
            text = open('\(root)/Sources/Whereabouts/Documentation.docc/events.cddl').read()
            for line in open('\(root)/Tests/Conformance/events-v1.txt'):
                if line.startswith('#'):
                    continue
                name, kind, stream, clear, parts = line.split()
                schema = pycddl.Schema('root = ' + name.split('-')[0] + chr(10) + text)
                def form():
                    plain = [] if parts == '-' else [cbor2.loads(bytes.fromhex(part)) for part in parts.split(',')]
                    return [int(kind), cbor2.loads(bytes.fromhex(clear)), plain]
                def fits(value):
                    try:
                        schema.validate_cbor(cbor2.dumps(value))
                        return True
                    except pycddl.ValidationError:
                        return False
                assert fits(form()), name
                for key in form()[1]:
                    wrong = form()
                    wrong[1][key] = {}
                    assert not fits(wrong), (name, key)
                wrong = form()
                wrong[0] += 1
                assert not fits(wrong), name
                wrong = form()
                del (wrong[1] or wrong[2][0])[1]
                assert not fits(wrong), name
            schema = pycddl.Schema('root = fix' + chr(10) + text)
            for line in open('\(root)/Tests/Conformance/fixes-v1.txt'):
                if not line.startswith('#'):
                    schema.validate_cbor(bytes.fromhex(line.split()[4]))
            """
        try Foreign.python(program)
    }
}
