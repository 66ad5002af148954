import { describe, expect, it } from 'vitest';
import { createStatementCache, isCacheable, REPEATED } from '../../../src/persistence/sqlite/statement-cache.ts';

const CAPACITY = 64;

function recordingCache() {
  const finalized: string[] = [];
  return { finalized, statements: createStatementCache<string>((statement) => void finalized.push(statement)) };
}

describe('cached statements', () => {
  it('are found by their text, and the least recently used is evicted', () => {
    const { statements, finalized } = recordingCache();
    for (let index = 0; index < CAPACITY; index += 1) statements.add(`select ${index}`, `${index}`);
    expect(statements.find('select 0')).toBe('0');
    statements.add('select 64', '64');
    expect([finalized, statements.find('select 1'), statements.find('select 0')]).toEqual([['1'], undefined, '0']);
  });

  it('replace an earlier one with the same text', () => {
    const { statements, finalized } = recordingCache();
    statements.add('select 1', 'first');
    statements.add('select 1', 'second');
    expect([finalized, statements.find('select 1')]).toEqual([['first'], 'second']);
  });

  it('are all finalized when the cache is cleared', () => {
    const { statements, finalized } = recordingCache();
    statements.add('select 1', 'first');
    statements.add('select 2', 'second');
    statements.clear();
    expect([finalized, statements.find('select 1')]).toEqual([['first', 'second'], undefined]);
  });
});

describe('isCacheable', () => {
  it.each([
    ['a statement with a parameter', true, 'select ?', [1]],
    ['begin immediate', true, 'begin immediate', []],
    ['commit', true, 'commit', []],
    ['a statement that is marked as repeated', true, `${REPEATED}delete from note`, []],
    ['a statement with a value in its text', false, "insert into note values ('a value in the text')", []],
    ['parameters of 512 Ki characters', true, 'select ?', ['x'.repeat(524_288)]],
    ['larger parameters', false, 'select ?, ?', ['x'.repeat(524_288), new Uint8Array(1)]],
  ])('for %s returns %s', (_name, expected, sql, parameters) => {
    expect(isCacheable(sql, parameters)).toBe(expected);
  });
});
