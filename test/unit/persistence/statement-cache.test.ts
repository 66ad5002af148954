import { describe, expect, it } from 'vitest';
import { createStatementCache, isCacheable, REPEATED } from '../../../src/persistence/sqlite/statement-cache.ts';

const MOST_KEPT = 64;

function recordingCache() {
  const dropped: string[] = [];
  return { dropped, statements: createStatementCache<string>((statement) => void dropped.push(statement)) };
}

describe('cached statements', () => {
  it('are found by their text, and the least recently used is evicted', () => {
    const { statements, dropped } = recordingCache();
    for (let at = 0; at < MOST_KEPT; at += 1) statements.add(`select ${at}`, `${at}`);
    expect(statements.find('select 0')).toBe('0');
    statements.add('select 64', '64');
    expect([dropped, statements.find('select 1'), statements.find('select 0')]).toEqual([['1'], undefined, '0']);
  });

  it('replace an earlier one with the same text', () => {
    const { statements, dropped } = recordingCache();
    statements.add('select 1', 'first');
    statements.add('select 1', 'second');
    expect([dropped, statements.find('select 1')]).toEqual([['first'], 'second']);
  });

  it('are all finalized when the cache is closed', () => {
    const { statements, dropped } = recordingCache();
    statements.add('select 1', 'first');
    statements.add('select 2', 'second');
    statements.clear();
    expect([dropped, statements.find('select 1')]).toEqual([['first', 'second'], undefined]);
  });
});

describe('which statements are cached', () => {
  it.each([
    ['select ?', [1], true],
    ['begin immediate', [], true],
    ['commit', [], true],
    [`${REPEATED}delete from note`, [], true],
    ["insert into note values ('a value in the text')", [], false],
    ['select ?', ['x'.repeat(524_288)], true],
    ['select ?, ?', ['x'.repeat(524_288), new Uint8Array(1)], false],
  ])('%s', (sql, parameters, worth) => {
    expect(isCacheable(sql, parameters)).toBe(worth);
  });
});
