import Glibc
import Testing

/// PyPI `pycddl` judges the stored forms by their description.
@Suite struct EventDescriptionTests {
    private static let python = getenv("WHEREABOUTS_PYTHON").map { String(cString: $0) } ?? "python3"
    private static let hasCDDL = system("\(python) -c 'import pycddl, cbor2' >/dev/null 2>&1") == 0

    @Test(.enabled(if: hasCDDL, "There is no Python with pycddl and cbor2."))
    func `events_cddl describes every form that version 1 can store, and nothing of another type`() throws {
        var folder = #filePath.split(separator: "/")
        while folder.last != "Tests" { folder.removeLast() }
        let root = "/" + folder.dropLast().joined(separator: "/")
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
            """
        let file = try #require(popen("\(Self.python) -", "w"))
        fputs(program, file)
        #expect(pclose(file) == 0)
    }
}
