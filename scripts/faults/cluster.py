"""Three PostgreSQL servers on this machine, of which one is the primary and a commit waits for one of the others.

Everything is below one folder, and every server listens only on a Unix socket there. The folder's mode keeps other users out, so
there are no passwords and no ports. A server's settings are outside its data directory, because a base backup and pg_rewind
replace what is in there. Only processes named by a `postmaster.pid` in the folder are ever signalled. The servers run with fsync.
Copies of them are made without, so a power cut of this machine may spoil one.

    DIR/primary                the name of the node that is the primary
    DIR/n1/postgresql.conf     settings; upstream.conf beside it says where a standby gets its records from
    DIR/n1/data                the data directory
    DIR/n1/log                 what the server says

As root, the servers run as the user `postgres`, because PostgreSQL refuses to run as root.
"""
import concurrent.futures
import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time

from postgresql import Lost, Refused, Session

BINARIES = os.environ.get("POSTGRESQL_BINARIES", "/usr/lib/postgresql/15/bin")
NAMES = ("n1", "n2", "n3")
USER = DATABASE = "whereabouts"
SUPERUSER = "postgres"
WAIT_SECONDS = 60
# sockaddr_un has 108 bytes, one of them for the end.
LONGEST_SOCKET = 107
# Records that a node keeps for one that is away. A replication slot would keep them for ever.
KEPT = "1GB"

SETTINGS = """\
data_directory = '{folder}/data'
hba_file = '{folder}/hba.conf'
cluster_name = '{name}'
listen_addresses = ''
unix_socket_directories = '{folder}'
shared_buffers = 32MB
max_connections = 60
max_wal_senders = 10
wal_level = replica
wal_keep_size = {kept}
fsync = on
full_page_writes = on
synchronous_commit = on
# Each node names the other two from the beginning. So a node that is promoted waits for one of them from its first commit on.
synchronous_standby_names = 'ANY 1 ({others})'
# A standby that has lost its primary tries again after this; five seconds unless set.
wal_retrieve_retry_interval = 100ms
# One call in place of one for each file, of which there are a thousand.
recovery_init_sync_method = syncfs
log_line_prefix = '%m [%p] '
include 'upstream.conf'
"""
# Comparing what was received makes sense only once a standby has read all that it has.
HAS_READ_ALL = """
SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)
   AND EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'startup'
               AND wait_event IN ('RecoveryWalStream', 'RecoveryRetrieveRetryInterval'))
"""
POSITION = """
SELECT greatest(coalesce(pg_last_wal_receive_lsn(), '0/0'), coalesce(pg_last_wal_replay_lsn(), '0/0')) - '0/0'::pg_lsn
"""


class ClusterError(Exception):
    """What cannot be done, in a sentence."""


def position_text(position):
    """A place in the write-ahead log as PostgreSQL writes it."""
    return "%X/%X" % (position >> 32, position & 0xFFFFFFFF)


def await_true(sentence, condition, seconds=WAIT_SECONDS, pause=0.02):
    """Returns the first true value of `condition`; a server that cannot be asked is a condition that is not true yet."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(Lost, Refused):
            value = condition()
            if value:
                return value
        if time.monotonic() > end:
            raise ClusterError("This did not come within %d s: %s." % (seconds, sentence))
        time.sleep(pause)


def is_alive(pid):
    """Whether a process runs; one that has ended and was not waited for by its parent does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(parent):
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open("/proc/%s/stat" % entry) as file:
            if int(file.read().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry))
    return found


class Node:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.folder = os.path.join(cluster.folder, name)
        self.data = os.path.join(self.folder, "data")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def configure(self):
        self.cluster.run("mkdir", "-p", "-m", "700", self.folder)
        others = ",".join(other for other in NAMES if other != self.name)
        self.write("postgresql.conf", SETTINGS.format(folder=self.folder, name=self.name, others=others, kept=KEPT))
        self.write("hba.conf", "local all all trust\nlocal replication all trust\n")
        self.write("upstream.conf", "")

    def point_to(self, upstream):
        """Sets where this node gets its records from: another node, or nowhere."""
        where = "host=%s user=%s application_name=%s" % (upstream.folder, SUPERUSER, self.name) if upstream else ""
        self.write("upstream.conf", "primary_conninfo = '%s'\n" % where)
        if self.is_running():
            self.ask("SELECT pg_reload_conf()")

    def pid(self):
        """The process that the pid file names, if it is this node's server."""
        try:
            with open(self.data + "/postmaster.pid") as file:
                pid = int(file.readline())
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                words = file.read().split(b"\0")
        except (OSError, ValueError):
            return None
        return pid if self.data.encode() in words and is_alive(pid) else None

    def is_running(self):
        return self.pid() is not None

    def is_standby(self):
        return os.path.exists(self.data + "/standby.signal")

    def session(self, user=SUPERUSER, database="postgres", seconds=30, **settings):
        return Session(self.folder, user, database, seconds, **settings)

    def ask(self, sql, **settings):
        with self.session(**settings) as session:
            return session.ask(sql)

    def one(self, sql, **settings):
        rows = self.ask(sql, **settings)
        return rows[0][0] if rows else None

    @property
    def control(self):
        """The control file of the shim that this node runs with, if the cluster has one."""
        return self.folder + "/fail.control"

    def start(self):
        shim = self.cluster.shim
        try:
            self.cluster.run(
                BINARIES + "/pg_ctl", "start", "--silent", "-w", "-t", str(WAIT_SECONDS), "-D", self.data,
                "-l", self.folder + "/log", "-o", "-c config_file='%s/postgresql.conf'" % self.folder,
                environment={"LD_PRELOAD": shim, "WHEREABOUTS_FAIL_CONTROL": self.control} if shim else {})
        except ClusterError:
            with open(self.folder + "/log") as file:
                raise ClusterError("%s does not start: %s" % (self.name, "".join(file.readlines()[-10:]))) from None

    def stop(self, mode="fast"):
        if self.is_running():
            self.cluster.run(BINARIES + "/pg_ctl", "stop", "--silent", "-w", "-t", str(WAIT_SECONDS), "-D", self.data, "-m", mode)

    def kill(self):
        """Ends the node as the loss of its machine would: no process of it does anything after the first is gone."""
        pid = self.pid()
        if pid is None:
            return
        # A stopped postmaster starts no further process while its children are looked up.
        os.kill(pid, signal.SIGSTOP)
        processes = [*children(pid), pid]
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        await_true("the processes of %s end" % self.name, lambda: not any(map(is_alive, processes)), pause=0.001)
        # Where nothing waits for ended processes, the server takes the number in these files for one that runs.
        for name in ("data/postmaster.pid", ".s.PGSQL.5432.lock"):
            os.unlink(os.path.join(self.folder, name))

    def freeze(self):
        """Stops all its processes where they are. Connections stay, and what is sent to it waits in their buffers."""
        pid = self.pid()
        os.kill(pid, signal.SIGSTOP)
        for process in children(pid):
            os.kill(process, signal.SIGSTOP)

    def thaw(self):
        pid = self.pid()
        for process in [*children(pid), pid]:
            os.kill(process, signal.SIGCONT)

    def copy_from(self, source):
        self.cluster.run(
            BINARIES + "/pg_basebackup", "-h", source.folder, "-U", SUPERUSER, "-D", self.data, "--checkpoint=fast",
            "--wal-method=stream", "--no-sync")

    def follow(self, source):
        """Starts as a standby of another node."""
        with open(self.data + "/standby.signal", "w"):
            pass
        self.cluster.own(self.data + "/standby.signal")
        self.point_to(source)
        self.start()

    def is_received_by(self, standby):
        return self.one("SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '%s' AND state = 'streaming'"
                        % standby.name)

    def position(self):
        return int(self.one(POSITION))


class Cluster:
    def __init__(self, folder, shim=None):
        """With a shim (fail.c) that the user of the servers can read, the servers run with it."""
        self.folder, self.shim = os.path.abspath(folder), shim
        self.nodes = {name: Node(self, name) for name in NAMES}
        if len(os.fsencode(self.folder + "/n1/.s.PGSQL.5432")) > LONGEST_SOCKET:
            raise ClusterError("%s is too long for the path of a Unix socket." % self.folder)
        if not os.path.exists(BINARIES + "/initdb"):
            raise ClusterError("There is no PostgreSQL 15 in %s; Debian's package is postgresql-15, and POSTGRESQL_BINARIES names"
                               " another folder." % BINARIES)
        self.owner = pwd.getpwnam("postgres") if os.geteuid() == 0 else None

    def run(self, *words, environment={}):
        """Runs a program as the user of the servers, with more in its environment."""
        if self.owner:
            words = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", *words)
        done = subprocess.run(
            words, cwd=self.folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            name = os.path.basename(words[5] if self.owner else words[0])
            raise ClusterError("%s exits with %d: %s" % (name, done.returncode, done.stdout.strip()))
        return done.stdout

    def own(self, path):
        if self.owner:
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def connection(self, *names, target="read-write"):
        """libpq's connection string: of the named nodes, or of all."""
        hosts = ",".join(self.nodes[name].folder for name in names or NAMES)
        return "host=%s dbname=%s user=%s connect_timeout=2 target_session_attrs=%s" % (hosts, DATABASE, USER, target)

    # MARK: - The primary

    @property
    def primary(self):
        with open(self.folder + "/primary") as file:
            return self.nodes[file.read().strip()]

    @primary.setter
    def primary(self, node):
        with open(self.folder + "/primary.new", "w") as file:
            file.write(node.name + "\n")
        os.rename(self.folder + "/primary.new", self.folder + "/primary")

    @property
    def standbys(self):
        return [node for node in self.nodes.values() if node is not self.primary]

    def exists(self):
        return os.path.exists(self.folder + "/primary")

    # MARK: - Start and stop

    def start(self):
        if not self.exists():
            self.create()
            return
        if not self.primary.is_running():
            self.primary.start()
        for node in self.standbys:
            if not node.is_running() and node.is_standby():
                node.start()

    def create(self):
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if os.listdir(self.folder):
            raise ClusterError("%s is not empty, and no cluster is in it." % self.folder)
        os.chmod(self.folder, 0o700)
        self.own(self.folder)
        if self.owner and subprocess.run(["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--", "test", "-w",
                                          self.folder]).returncode:
            raise ClusterError("The user postgres cannot get to %s; a folder above it keeps the user out." % self.folder)
        for node in self.nodes.values():
            node.configure()
        first, *others = self.nodes.values()
        self.run(BINARIES + "/initdb", "-D", first.data, "-U", SUPERUSER, "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust",
                 "--data-checksums", "--no-sync")
        first.start()
        # There is no standby yet whose answer could be waited for.
        alone = {"synchronous_commit": "local"}
        first.ask("CREATE ROLE %s LOGIN IN ROLE pg_monitor" % USER, **alone)
        first.ask("CREATE DATABASE %s OWNER %s" % (DATABASE, USER), **alone)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: (node.copy_from(first), node.follow(first)), others))
        self.primary = first
        self.await_streaming()

    def await_streaming(self, seconds=WAIT_SECONDS):
        for node in self.standbys:
            await_true("%s receives from %s" % (node.name, self.primary.name), lambda: self.primary.is_received_by(node), seconds)

    def stop(self, mode="fast"):
        # The primary first: it ends only when its standbys have all it has.
        for node in [self.primary, *self.standbys]:
            node.stop(mode)

    def remove(self):
        for node in self.nodes.values():
            node.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # MARK: - Fail-over

    def promote(self, name=None, lossy=False):
        """Makes a standby the primary: the one that has received the furthest, unless one is named. Returns it.

        A commit was acknowledged as soon as one of the two standbys had it, so only both together surely have all. A standby that
        cannot be asked may be the only one that has the last commits.
        """
        old = self.primary
        if old.is_running():
            raise ClusterError("%s runs and is the primary. Stop or kill it first." % old.name)
        asked = {node: None for node in self.standbys if node.is_running() and node.is_standby()}
        missing = [node.name for node in self.standbys if node not in asked]
        if missing and not lossy:
            raise ClusterError(
                "%s cannot be asked, and may have acknowledged events that no other node has. Start it, or give --lossy if it is"
                " gone for good." % " and ".join(missing))
        if name and self.nodes[name] not in asked:
            raise ClusterError("%s is no running standby." % name)
        if not asked:
            raise ClusterError("No standby runs.")
        # First neither may receive anything more: a primary that is only out of our sight could go on with the other one.
        for node in asked:
            node.point_to(None)
        try:
            for node in asked:
                await_true("%s has read all that it received" % node.name, lambda: node.one(HAS_READ_ALL))
                asked[node] = node.position()
            furthest = max(asked, key=asked.get)
            chosen = self.nodes[name] if name else furthest
            if asked[chosen] < asked[furthest] and not lossy:
                raise ClusterError("%s has received up to %s, and %s up to %s. Promote %s." % (
                    chosen.name, position_text(asked[chosen]), furthest.name, position_text(asked[furthest]), furthest.name))
        except ClusterError:
            for node in asked:
                node.point_to(old)
            raise
        self.positions = {node.name: position for node, position in asked.items()}
        if not chosen.one("SELECT pg_promote(true, %d)" % WAIT_SECONDS):
            raise ClusterError("%s does not become the primary; see %s/log." % (chosen.name, chosen.folder))
        self.primary = chosen
        for node in asked:
            # One that is further has records that the new primary never had; it must be rejoined.
            if node is not chosen and asked[node] <= asked[chosen]:
                node.point_to(chosen)
        return chosen

    def rejoin(self, name):
        """Makes a node a standby of the primary, whatever it was before. Returns how: "rewound" or "copied"."""
        node, source = self.nodes[name], self.primary
        if node is source:
            raise ClusterError("%s is the primary." % name)
        if not source.is_running():
            raise ClusterError("%s, the primary, does not run." % source.name)
        node.stop()
        # pg_rewind reads the timeline of the source from its last checkpoint.
        source.ask("CHECKPOINT")
        try:
            self.run(BINARIES + "/pg_rewind", "--no-sync", "--target-pgdata", node.data,
                     "--config-file", node.folder + "/postgresql.conf",
                     "--source-server", "host=%s user=%s dbname=postgres" % (source.folder, SUPERUSER))
            how = "rewound"
        except ClusterError:
            shutil.rmtree(node.data, ignore_errors=True)
            node.copy_from(source)
            how = "copied"
        node.follow(source)
        await_true("%s receives from %s" % (name, source.name), lambda: source.is_received_by(node))
        return how

    def reinstate(self, name):
        """Takes an earlier primary back that was not lost after all; what the present one has written since is given up."""
        self.primary.kill()
        node = self.nodes[name]
        if node.is_standby():
            raise ClusterError("%s is a standby; promote it." % name)
        node.start()
        self.primary = node
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(lambda other: self.rejoin(other.name), self.standbys))

    # MARK: - What is

    def status(self):
        """A line of words for each node."""
        primary = self.primary
        newest = None
        with contextlib.suppress(Lost, Refused):
            newest = int(primary.one("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))
        lines = [("NODE", "ROLE", "STATE", "RECEIVED", "REPLAYED", "BEHIND")]
        for node in self.nodes.values():
            role = "primary" if node is primary else "standby" if node.is_standby() else "former primary"
            if not node.is_running():
                lines.append((node.name, role, "stopped", "", "", ""))
            elif node is primary:
                at = position_text(newest) if newest is not None else ""
                lines.append((node.name, role, "running", at, at, ""))
            else:
                received = node.position()
                replayed = int(node.one("SELECT coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn"))
                streams = node.one("SELECT count(*) FROM pg_stat_wal_receiver WHERE status = 'streaming'")
                state = "streaming" if streams else "cut off"
                behind = "" if newest is None else "%d bytes" % max(0, newest - received)
                lines.append((node.name, role, state, position_text(received), position_text(replayed), behind))
        return lines
