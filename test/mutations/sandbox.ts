import { changesOf } from './changes-of.ts';

const bubblewrap = 'sandbox/bubblewrap-arguments.test.ts';

/** What commands may see and do (T9). Noticed by tests that start no command: what a changed sandbox lets out would do harm here. */
export const sandboxMutations = [
  ...changesOf('sandbox/own-entries.ts', 'sandbox/own-entries.test.ts', [
    [
      'what a command made of a file of the skill is lost',
      'made.get(one) === stampOf(place) || isSame(one, scratch)',
      'true',
    ],
    ['a link in a folder of the skill is followed', '(!isFolder && !stats.isFile()) || ', ''],
  ]),
  ...changesOf('sandbox/bubblewrap/bubblewrap-arguments.ts', bubblewrap, [
    ['commands have the network', ", '--unshare-net'", ''],
    ['commands see the host’s processes', "'--unshare-pid', ", ''],
    ['commands make namespaces', "'--disable-userns', ", ''],
    ['commands outlive the bot', ", '--die-with-parent'", ''],
    ['commands keep the terminal', "session === 'new'", 'false'],
    [
      'commands may write in their skill',
      "['--ro-bind', skillDirectory, '/skill']",
      "['--bind', skillDirectory, '/skill']",
    ],
    ['commands may write to the root', "'--remount-ro', '/', ", ''],
    ['commands may change /proc', "...['--remount-ro', '/proc'],", ''],
    ['commands keep capabilities', ", '--cap-drop', 'ALL'", ''],
    ['commands may change the system', "['--ro-bind', top, seen(top)]", "['--bind', top, seen(top)]"],
    ['commands may change settings of the system', "['--ro-bind', name, name]", "['--bind', name, name]"],
    [
      'what is hidden is seen',
      '.filter((each) => existsSync(each))\n',
      '.filter((each) => !existsSync(each))\n',
    ],
    ['a link hides what it leads to from being covered', '.map((each) => realpathSync(each))\n', ''],
  ]),
  ...changesOf('sandbox/inside-sandbox.ts', bubblewrap, [
    ['a skill decides where programs are found', '    ...declared,\n    PATH:', '    PATH:'],
  ]),
  ...changesOf('tools/built-in/skills-run-script.ts', 'tools/packaged-scripts.test.ts', [
    ['a model chooses what is fetched', "called.filter((tool) => named.has(tool.join(' ')))", 'called'],
  ]),
  ...changesOf('sandbox/packages/script-packages.ts', 'tools/packaged-scripts.test.ts', [
    ['an address is a package', 'requirement.test(word) ? [...tool, word] : undefined', '[...tool, word]'],
    ['another package under the name of a tool', 'tool.push(option, given);', ''],
  ]),
  ...changesOf('sandbox/bubblewrap/system-calls.ts', 'sandbox/system-calls.test.ts', [
    ['commands use the keys of the system', '{ x64: 250, arm64: 219 }, // keyctl\n', ''],
    ['commands look into others', '{ x64: 101, arm64: 117 }, // ptrace\n', ''],
    ['commands load programs into the kernel', '{ x64: 321, arm64: 280 }, // bpf\n', ''],
    ['commands type at the terminal', '[0x5412, 0x541c]', '[0x541c]'],
    ['commands open sockets of any kind', '...unlessEqual(families, noSuchFamily), ', ''],
    ['commands make namespaces by clone', 'step(0x45, newNamespaces, 0, 1), answer(refuse), ', ''],
    ['calls of another architecture pass', '...unlessEqual([architectures[processor]], noSuchCall),\n', ''],
    [
      'calls with numbers of x32 pass',
      "...(processor === 'x64' ? [step(0x35, 0x40000000, 0, 1), answer(noSuchCall)] : []),\n",
      '',
    ],
    ['memory of no process is not counted', '...(counted ? [] : [memfdCreate])', '...[]'],
  ]),
  ...changesOf('sandbox/container/container-arguments.ts', 'sandbox/container-arguments.test.ts', [
    ['containers have the network', "'--network', 'none', ", ''],
    ['containers have a root that can be written', ", '--read-only'", ''],
    ['containers keep capabilities', "'--cap-drop', 'ALL', ", ''],
    ['containers gain privileges', "'--security-opt', 'no-new-privileges', ", ''],
    ['containers have no limit of memory', 'engine.limits.memory ?', 'false ?'],
    ['containers have no limit of processes', 'engine.limits.pids ?', 'false ?'],
    ['an image is pulled', "'--pull', 'never', ", ''],
    [
      'a skill is mounted to be written',
      "{ source: skillDirectory, target: '/skill' }",
      "{ source: skillDirectory, target: '/skill', writable: true }",
    ],
    ['a path with a comma is an option', '/[",]/.test(from)', 'false'],
    ['what a skill declares steers the sandbox', "&& (each === 'TZ' || !Object.hasOwn(own, each))", ''],
    [
      'what a skill declares is on the command line',
      "names.flatMap((_, index) => ['--env', carrier(index)])",
      "names.flatMap((each, index) => ['--env', `${carrier(index)}=${declared[each]}`])",
    ],
  ]),
  ...changesOf(
    'sandbox/limits/kernel-limits.ts',
    'sandbox/kernel-limits.test.ts',
    [
      [
        'a group has no limit of memory',
        "writeFileSync(file('memory.max'), String(memoryMb * 1024 * 1024));",
        '',
      ],
      ['a group has no limit of processes', "writeFileSync(file('pids.max'), String(processes * 2));", ''],
      ['swap is not counted', "writeFileSync(file('memory.swap.max'), '0');", ''],
      ['one process of a group ends alone', "writeFileSync(file('memory.oom.group'), '1');", ''],
      ['a limit that the kernel enforced is not told', "return 'memory';", 'return undefined;'],
    ].map(
      ([name = '', find = '', replace = '']) =>
        [name, find, replace, { only: 'T9 a command’s group' }] as const,
    ),
  ),
];
