import { skilletHere } from '../../core/skillet-here.ts';
/** The Debian package of a program; undefined if unknown. A package of the same name may be something else. */
export function packageOf(program: string): string | undefined {
  return renamed.get(program) ?? (sameName.has(program) ? program : undefined);
}

export function installProgram(program: string, where: 'host' | 'root' | 'image'): string {
  const name = packageOf(program);
  if (name === undefined) return `${unpackaged(program)}, where the sandbox finds it`;
  if (where === 'host') return `install it on the bot's system (apt-get install ${name})`;
  if (where === 'image')
    return `install it in the image that [sandbox] image names (apt-get install ${name})`;
  return `declare packages: [${name}] in the skill and install them with "${skilletHere()} sandbox build"`;
}

export function unpackaged(program: string, way?: string): string {
  if (program === 'uv' || program === 'uvx')
    return 'install uv as https://docs.astral.sh/uv says, such as by "pipx install uv"';
  const how = way === undefined ? 'as its makers say' : `as the skill says: ${way}`;
  return `no Debian package is known to bring ${program}: install it ${how}`;
}

/** The Debian package for a Python module or PyPI package; undefined if unknown. */
export function pythonPackageOf(name: string): string | undefined {
  const [top = ''] = name.toLowerCase().replaceAll('_', '-').split('.');
  const other = pythonNames.get(top);
  if (other !== undefined) return `python3-${other}`;
  return pythonSameName.has(top) ? `python3-${top}` : undefined;
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const sameName: ReadonlySet<string> = new Set(
  words(`ansible apktool adb awk bc chromium cmake curl datamash dc expect ffmpeg file fzf gawk gcc gh git gnuplot hledger
    htop img2pdf inkscape jo jq ledger less libreoffice lsof make mediainfo mpv nano nmap npm ocrmypdf openssl pandoc parallel perl
    pipx python3 qpdf rsync ruby screen shellcheck socat sox sqlite3 strace tmux tree unzip vim wget whois wkhtmltopdf xsltproc
    yt-dlp zip`),
);

const renamed: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '7z': 'p7zip-full',
    R: 'r-base-core',
    Rscript: 'r-base-core',
    aria2c: 'aria2',
    aws: 'awscli',
    cargo: 'cargo',
    convert: 'imagemagick',
    dig: 'dnsutils',
    docker: 'docker.io',
    dot: 'graphviz',
    'espeak-ng': 'espeak-ng',
    exiftool: 'libimage-exiftool-perl',
    go: 'golang-go',
    gpg: 'gnupg',
    gs: 'ghostscript',
    identify: 'imagemagick',
    java: 'default-jre',
    kubectl: 'kubernetes-client',
    magick: 'imagemagick',
    mlr: 'miller',
    mysql: 'default-mysql-client',
    nc: 'netcat-openbsd',
    node: 'nodejs',
    nslookup: 'dnsutils',
    pdfinfo: 'poppler-utils',
    pdfimages: 'poppler-utils',
    pdftk: 'pdftk-java',
    pdftoppm: 'poppler-utils',
    pdftotext: 'poppler-utils',
    php: 'php-cli',
    ping: 'iputils-ping',
    pip: 'python3-pip',
    pip3: 'python3-pip',
    psql: 'postgresql-client',
    python: 'python3',
    'redis-cli': 'redis-tools',
    rg: 'ripgrep',
    rustc: 'rustc',
    scp: 'openssh-client',
    soffice: 'libreoffice',
    ssh: 'openssh-client',
    task: 'taskwarrior',
    tesseract: 'tesseract-ocr',
    xmllint: 'libxml2-utils',
    xz: 'xz-utils',
  }),
);

const pythonSameName: ReadonlySet<string> = new Set(
  words(`aiohttp arrow babel boto3 bs4 caldav chardet click colorama cryptography defusedxml docutils docx fastapi feedparser
    fitz flask geopy httplib2 html2text httpx humanize icalendar imageio jinja2 jsonschema jwt lxml magic markdown matplotlib networkx
    numpy openpyxl pandas paramiko pdfminer pip plotly psutil psycopg2 pydantic pymysql pypdf pypdf2 pytest qrcode redis
    reportlab requests rich scipy seaborn selenium serial shapely simplejson slugify sympy tabulate telethon termcolor toml
    tomli tqdm typer ujson uvicorn websocket websockets xlrd xlsxwriter yaml`),
);

const pythonNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    beautifulsoup4: 'bs4',
    cv2: 'opencv',
    dateutil: 'dateutil',
    dotenv: 'dotenv',
    gnupg: 'gnupg',
    googleapiclient: 'googleapi',
    'google-api-python-client': 'googleapi',
    'opencv-python': 'opencv',
    'pdfminer-six': 'pdfminer',
    pil: 'pil',
    pillow: 'pil',
    'psycopg2-binary': 'psycopg2',
    pyjwt: 'jwt',
    pymupdf: 'fitz',
    pyserial: 'serial',
    'python-dateutil': 'dateutil',
    'python-docx': 'docx',
    'python-dotenv': 'dotenv',
    'python-slugify': 'slugify',
    pytz: 'tz',
    pyyaml: 'yaml',
    'scikit-learn': 'sklearn',
    sklearn: 'sklearn',
    'websocket-client': 'websocket',
  }),
);

/** Packages that are completely installed, and what they provide (`mail-transport-agent`), from dpkg's status file. */
export function installedPackages(status: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const stanza of status.split('\n\n')) {
    if (!/^Status: \S+ \S+ installed$/m.test(stanza)) continue;
    const [, name] = /^Package: (\S+)$/m.exec(stanza) ?? [];
    if (name !== undefined) names.add(name);
    const [, provided = ''] = /^Provides: (.+)$/m.exec(stanza) ?? [];
    for (const each of provided.split(',')) {
      const [word] = each.trim().split(' ');
      if (word) names.add(word);
    }
  }
  return names;
}
