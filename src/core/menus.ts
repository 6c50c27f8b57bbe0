/** `alone`: in groups the command and its answer are for its sender alone (U16). */
export type MenuEntry = Readonly<{ name: string; description: string; hint?: string; alone?: true }>;
export type Menus = Readonly<{ private: readonly MenuEntry[]; group: readonly MenuEntry[] }>;

export type Prompt = Readonly<{ title: string } & ({ say: string } | { start: string })>;
