import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codedAnswer, plainWord } from '../../src/core/plain-words.ts';

test('H11 a plain word counts with spaces around it and marks behind it, and not inside other characters', () => {
  for (const [text, word] of [
    ['yes', 'yes'],
    [' YES ', 'yes'],
    ['yes!!', 'yes'],
    ['no. ! ', 'no'],
    ['はい。。', 'yes'],
    ['arre\u0302tez', 'stop'],
    ['siempre', 'always'],
    ['y.es', undefined],
    ['.yes', undefined],
    ['yes no', undefined],
    ['', undefined],
  ] as const)
    assert.equal(plainWord(text), word, JSON.stringify(text));
});

test('T8 a coded answer is a word and eight letters or digits, with nothing else', () => {
  const code = 'ABCDEFG0';
  for (const [text, read] of [
    ['yes abcdefg0', { word: 'yes', code }],
    ['`no ABCDEFG0`', { word: 'no', code }],
    [' always `abcdefg0` ', { word: 'always', code }],
    ['stop ABCDEFG0', undefined],
    ['yes! ABCDEFG0', undefined],
    ['y1es ABCDEFG0', undefined],
    ['ABCDEFG0', undefined],
  ] as const)
    assert.deepEqual(codedAnswer(text), read, text);
});
