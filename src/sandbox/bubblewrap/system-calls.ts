/** Numbers of a system call, by the name that Node gives a processor. */
type Numbers = Readonly<{ x64: number; arm64: number }>;

/** Calls that reach outside of all namespaces, or are often faulty. */
const refused: readonly Numbers[] = [
  { x64: 248, arm64: 217 }, // add_key: keys are system-wide
  { x64: 249, arm64: 218 }, // request_key
  { x64: 250, arm64: 219 }, // keyctl
  { x64: 298, arm64: 241 }, // perf_event_open
  { x64: 303, arm64: 264 }, // name_to_handle_at
  { x64: 321, arm64: 280 }, // bpf
  { x64: 323, arm64: 282 }, // userfaultfd
  { x64: 272, arm64: 97 }, // unshare
  { x64: 308, arm64: 268 }, // setns
  // With these a process could look into bwrap, the first one inside.
  { x64: 101, arm64: 117 }, // ptrace
  { x64: 310, arm64: 270 }, // process_vm_readv
  { x64: 311, arm64: 271 }, // process_vm_writev
  { x64: 440, arm64: 440 }, // process_madvise
  { x64: 438, arm64: 438 }, // pidfd_getfd
  { x64: 312, arm64: 272 }, // kcmp
  { x64: 103, arm64: 116 }, // syslog
  { x64: 179, arm64: 60 }, // quotactl
  { x64: 256, arm64: 238 }, // migrate_pages
  { x64: 279, arm64: 239 }, // move_pages
  { x64: 300, arm64: 262 }, // fanotify_init
];

/** Calls for which programs have fallbacks. */
const absent: readonly Numbers[] = [
  { x64: 435, arm64: 435 }, // clone3: its flags can't be checked
  { x64: 425, arm64: 425 }, // io_uring_setup
  { x64: 426, arm64: 426 }, // io_uring_enter
  { x64: 427, arm64: 427 }, // io_uring_register
  // Memory of no process, which nobody counts.
  { x64: 29, arm64: 194 }, // shmget
  { x64: 64, arm64: 190 }, // semget
  { x64: 68, arm64: 186 }, // msgget
  { x64: 240, arm64: 180 }, // mq_open
  { x64: 447, arm64: 447 }, // memfd_secret
  { x64: 278, arm64: 75 }, // vmsplice: a pipe would hold huge pages
];

/** Memory that was sent through a socket and then closed belongs to no process. */
const memfdCreate: Numbers = { x64: 319, arm64: 279 };

const architectures = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const clone: Numbers = { x64: 56, arm64: 220 };
const socket: Numbers = { x64: 41, arm64: 198 };
const ioctl: Numbers = { x64: 16, arm64: 29 };
/** TIOCSTI and TIOCLINUX, which type on the terminal. */
const typing = [0x5412, 0x541c];
const setsockopt: Numbers = { x64: 54, arm64: 208 };
/** SO_SNDBUF and SO_RCVBUF. The limits count sockets at their default size. */
const bufferSizes = [7, 8];
const fcntl: Numbers = { x64: 72, arm64: 25 };
/** F_SETPIPE_SZ. The limits count pipes at their default size. */
const pipeSize = 1031;
const newNamespaces = 0x7e020000;
/** Unix, IPv4, IPv6 and netlink. Others, such as vsock, ignore namespaces. */
const families = [1, 2, 10, 16];

const pretend = 0x00050000;
const refuse = 0x00050001;
const noSuchCall = 0x00050026;
const noSuchFamily = 0x00050061;
const allow = 0x7fff0000;

/**
 * Makes a seccomp filter for bwrap (T9); undefined for unknown processors. `counted` is true if the kernel counts all
 * memory of a command.
 */
export function systemCallFilter(
  { counted }: Readonly<{ counted: boolean }>,
  processor: string = process.arch,
): Uint8Array | undefined {
  if (processor !== 'x64' && processor !== 'arm64') return undefined;
  const program = [
    load(4),
    ...unlessEqual([architectures[processor]], noSuchCall),
    load(0),
    // Calls of x32 have other numbers.
    ...(processor === 'x64' ? [step(0x35, 0x40000000, 0, 1), answer(noSuchCall)] : []),
    ...refused.flatMap((call) => ifEqual(call[processor], [answer(refuse)])),
    ...[...absent, ...(counted ? [] : [memfdCreate])].flatMap((call) =>
      ifEqual(call[processor], [answer(noSuchCall)]),
    ),
    ...ifEqual(clone[processor], [load(16), step(0x45, newNamespaces, 0, 1), answer(refuse), answer(allow)]),
    ...ifEqual(ioctl[processor], [
      load(24),
      ...typing.flatMap((request) => ifEqual(request, [answer(refuse)])),
      answer(allow),
    ]),
    ...ifEqual(fcntl[processor], [load(24), ...ifEqual(pipeSize, [answer(refuse)]), answer(allow)]),
    ...ifEqual(setsockopt[processor], [
      load(24),
      // The level is SOL_SOCKET.
      ...ifEqual(1, [load(32), ...bufferSizes.flatMap((option) => ifEqual(option, [answer(pretend)]))]),
      answer(allow),
    ]),
    ...ifEqual(socket[processor], [load(16), ...unlessEqual(families, noSuchFamily), answer(allow)]),
    answer(allow),
  ];
  return Buffer.concat(program);
}

/** Loads 32 bits of `seccomp_data`: at 0 the call, at 4 the architecture, at 16, 24 and 32 the first arguments. */
function load(offset: number): Buffer {
  return step(0x20, offset, 0, 0);
}

function answer(action: number): Buffer {
  return step(0x06, action, 0, 0);
}

function ifEqual(value: number, steps: readonly Buffer[]): readonly Buffer[] {
  return [step(0x15, value, 0, steps.length), ...steps];
}

function unlessEqual(values: readonly number[], action: number): readonly Buffer[] {
  const tests = values.map((value, index) => step(0x15, value, values.length - index, 0));
  return [...tests, answer(action)];
}

/** Writes one BPF instruction. `ifTrue` and `ifFalse` are how many to skip. */
function step(code: number, operand: number, ifTrue: number, ifFalse: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(operand >>> 0, 4);
  return bytes;
}
