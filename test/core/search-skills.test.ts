import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchSkills } from '../../src/core/search-skills.ts';
import { makeSkill } from '../support/make-skill.ts';

const names = (query: string, skills = corpus): readonly string[] =>
  searchSkills(skills, query).map(({ name }) => name);

const corpus = [
  makeSkill('dice', { description: 'Rolls dice.', tags: ['games', 'random-numbers'] }),
  makeSkill('research', { description: 'Looks things up.', tags: ['web'] }),
  makeSkill('web-fetch', { description: 'Reads a page.' }),
  makeSkill('notes', { description: 'Web notes and dice games.', tags: ['web', 'web-2'] }),
];

test('R2 a term scores 3 in the name, 2 in the description and 1 for each tag, best first', () => {
  assert.deepEqual(names('web'), ['notes', 'web-fetch', 'research']);
  assert.deepEqual(names('DICE'), ['dice', 'notes']);
  assert.deepEqual(names('games'), ['notes', 'dice']);
});

test('R2 I1 the spelling of menus finds the skill, and _ and - are one everywhere', () => {
  const skills = [
    makeSkill('pdf-editing', { description: 'Edits documents.' }),
    makeSkill('pictures', { description: 'Calls pdf_editing.', tags: ['image_tools'] }),
  ];
  assert.deepEqual(names('pdf_editing', skills), ['pdf-editing', 'pictures']);
  assert.deepEqual(names('PDF-Editing', skills), ['pdf-editing', 'pictures']);
  assert.deepEqual(names('image-tools', skills), ['pictures']);
});

test('R2 terms add up, equals go by name, terms under 2 characters and misses count nothing', () => {
  assert.deepEqual(names('dice web'), ['notes', 'dice', 'web-fetch', 'research']);
  assert.deepEqual(names('d'), []);
  assert.deepEqual(names('a i !'), []);
  assert.deepEqual(names('nothing'), []);
  const equal = ['c', 'a', 'b'].map((name) => makeSkill(`${name}-tool`));
  assert.deepEqual(names('tool?', equal), ['a-tool', 'b-tool', 'c-tool']);
});

test('R2 there are at most 25 hits', () => {
  const skills = Array.from({ length: 60 }, (_, index) => makeSkill(`tool-${index}`));
  assert.equal(names('tool', skills).length, 25);
});
