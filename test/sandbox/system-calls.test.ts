import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemCallFilter } from '../../src/sandbox/bubblewrap/system-calls.ts';

type Call = Readonly<{ architecture: number; number: number; given: readonly number[] }>;

const allowed = 0x7fff0000;
const pretended = 0x00050000;
const notPermitted = 0x00050001;
const noSuchCall = 0x00050026;
const noSuchFamily = 0x00050061;

/** What the kernel answers to a call under a filter: classic BPF over `struct seccomp_data`. */
function answerOf(filter: Uint8Array, { architecture, number, given }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  given.forEach((value, index) => data.writeUInt32LE(value >>> 0, 16 + index * 8));
  const program = Buffer.from(filter);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const [code, ifTrue, ifFalse] = [
      program.readUInt16LE(at * 8),
      program.readUInt8(at * 8 + 2),
      program.readUInt8(at * 8 + 3),
    ];
    const operand = program.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) loaded = data.readUInt32LE(operand);
    else {
      const holds =
        code === 0x15
          ? loaded === operand
          : code === 0x35
            ? loaded >= operand
            : code === 0x45
              ? (loaded & operand) !== 0
              : assert.fail(`no such instruction: ${code}`);
      at += holds ? ifTrue : ifFalse;
    }
  }
  return assert.fail('the program has no answer');
}

/** Numbers as the kernel's own tables have them. */
const processors = {
  x64: {
    architecture: 0xc000003e,
    refused: { keyctl: 250, add_key: 248, request_key: 249, ptrace: 101, bpf: 321, perf_event_open: 298 },
    more: { unshare: 272, setns: 308, userfaultfd: 323, process_vm_readv: 310, syslog: 103, kcmp: 312 },
    absent: { clone3: 435, io_uring_setup: 425, shmget: 29, msgget: 68, mq_open: 240, memfd_secret: 447 },
    ordinary: { read: 0, openat: 257, execve: 59, futex: 202 },
    clone: 56,
    socket: 41,
    ioctl: 16,
    setsockopt: 54,
    memfd_create: 319,
  },
  arm64: {
    architecture: 0xc00000b7,
    refused: { keyctl: 219, add_key: 217, request_key: 218, ptrace: 117, bpf: 280, perf_event_open: 241 },
    more: { unshare: 97, setns: 268, userfaultfd: 282, process_vm_readv: 270, syslog: 116, kcmp: 272 },
    absent: { clone3: 435, io_uring_setup: 425, shmget: 194, msgget: 186, mq_open: 180, memfd_secret: 447 },
    ordinary: { read: 63, openat: 56, execve: 221, futex: 98 },
    clone: 220,
    socket: 198,
    ioctl: 29,
    setsockopt: 208,
    memfd_create: 279,
  },
} as const;

for (const [processor, of] of Object.entries(processors))
  test(`T9 the filter of system calls answers as it should for every kind of call (${processor})`, () => {
    const filter = systemCallFilter({ counted: false }, processor);
    const counting = systemCallFilter({ counted: true }, processor);
    assert.ok(filter && counting);
    const { architecture } = of;
    const ask = (number: number, given: readonly number[] = [], by = filter): number =>
      answerOf(by, { architecture, number, given });
    for (const [name, number] of Object.entries({ ...of.refused, ...of.more }))
      assert.equal(ask(number), notPermitted, name);
    for (const [name, number] of Object.entries(of.absent)) assert.equal(ask(number), noSuchCall, name);
    for (const [name, number] of Object.entries(of.ordinary)) assert.equal(ask(number), allowed, name);
    assert.equal(ask(of.memfd_create), noSuchCall);
    assert.equal(ask(of.memfd_create, [], counting), allowed, 'where the kernel counts it');

    // A thread, and each kind of namespace.
    assert.equal(ask(of.clone, [0x003d0f00]), allowed);
    for (const flag of [0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x02000000, 0x04000000, 0x08000000])
      assert.equal(ask(of.clone, [flag | 17]), notPermitted, flag.toString(16));
    for (const family of [1, 2, 10, 16]) assert.equal(ask(of.socket, [family]), allowed, String(family));
    for (const family of [0, 17, 38, 40])
      assert.equal(ask(of.socket, [family]), noSuchFamily, String(family));
    for (const typing of [0x5412, 0x541c]) assert.equal(ask(of.ioctl, [0, typing]), notPermitted);
    assert.equal(ask(of.ioctl, [0, 0x5401]), allowed);
    for (const size of [7, 8]) assert.equal(ask(of.setsockopt, [3, 1, size]), pretended);
    assert.equal(ask(of.setsockopt, [3, 6, 7]), allowed, 'at another level');

    // Another set of numbers would mean other calls.
    const other = answerOf(filter, { architecture: 0x40000003, number: of.ordinary.read, given: [] });
    assert.equal(other, noSuchCall);
    if (processor === 'x64') assert.equal(ask(0x40000000 + of.ordinary.read), noSuchCall, 'x32');
  });

test('T9 a processor whose numbers are not known has no filter', () => {
  assert.equal(systemCallFilter({ counted: true }, 'riscv64'), undefined);
});
