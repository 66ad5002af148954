import { describe, expect, it } from 'vitest';
import { type Command, helpOf, readWords, usageOf } from '../../../lite/command.ts';
import { UsageFailure } from '../../../lite/failure.ts';
import { readLine } from '../../../lite/program.ts';
import { wordsOf } from '../../../lite/shell.ts';
import { Values } from '../../../lite/values.ts';

const COMMAND: Command = {
  names: ['keys', 'copy'],
  summary: 'Copy a key',
  operands: ['key-id', 'target?'],
  options: {
    size: { type: 'string', short: 's', default: '5', help: 'Size' },
    kind: { type: 'string', choices: ['a', 'b'], help: 'Kind' },
    dry: { type: 'boolean', help: 'Dry' },
  },
  run() {},
};
/** A command that starts another program. */
const AGENT: Command = { ...COMMAND, names: ['agent'], operands: [], forwardsArguments: true };

const valuesOf = (options: Record<string, unknown>): Values => new Values(options, []);

describe('the words after a command', () => {
  it('are options and arguments in any order', () => {
    const read = readWords(COMMAND, ['one', '--kind=a', '-s', '7', 'two', '--dry']);
    expect(read?.operands).toEqual(['one', 'two']);
    expect([read?.text('kind'), read?.integer('size'), read?.flag('dry')]).toEqual(['a', 7, true]);
    expect(readWords(COMMAND, ['one'])?.text('size')).toBe('5');
    expect(readWords(COMMAND, ['one', '--help'])).toBeNull();
    expect(readWords(COMMAND, ['--', '--dry'])?.operands).toEqual(['--dry']);
  });

  it.each([
    [[], "Missing argument 'KEY_ID'."],
    [['a', 'b', 'c', 'd'], 'Got unexpected extra arguments (c d)'],
    [['a', '--kind', 'c'], "Invalid value for '--kind': 'c' is not one of 'a', 'b'."],
    [['a', '--none'], "No such option '--none'."],
    [['a', '-x'], "No such option '-x'."],
  ])('%j are refused: %s', (words, message) => {
    expect(() => readWords(COMMAND, words)).toThrow(new UsageFailure(message));
  });

  it('of an agent are arguments of its program, from the first word that is no option of the command', () => {
    const read = readWords(AGENT, ['--dry', '--model', 'x', '--dry', '--help']);
    expect([read?.flag('dry'), read?.operands]).toEqual([true, ['--model', 'x', '--dry', '--help']]);
    expect(readWords(AGENT, ['--', '--dry'])?.operands).toEqual(['--dry']);
    expect(readWords(AGENT, ['--help'])).toBeNull();
  });

  it('are shown in the usage line and in the help', () => {
    expect(usageOf(COMMAND)).toBe('Usage: lite keys copy [OPTIONS] KEY_ID [TARGET]');
    expect(usageOf(AGENT)).toBe('Usage: lite agent [OPTIONS] [ARGS]...');
    expect(helpOf(COMMAND)).toContain('  -s, --size TEXT  Size  [default: 5]\n  --kind [a|b]     Kind\n');
  });
});

describe('options before the command', () => {
  it('are read up to the command', () => {
    expect(readLine(['--base-url', 'http://a', '--api-key=k=1', 'x', '--help'])).toEqual({
      request: 'command',
      baseUrl: 'http://a',
      apiKey: 'k=1',
      words: ['x', '--help'],
    });
    expect(readLine(['-v'])).toMatchObject({ request: 'version' });
    expect(readLine(['--base-url', 'u', '--help', 'x'])).toMatchObject({ request: 'help', words: [] });
  });

  it.each([[['--api-key']], [['--base-url=u', '--other=1']]])('%j is refused', (words) => {
    expect(() => readLine(words)).toThrow(UsageFailure);
  });
});

describe('values of options', () => {
  it('in pairs are parsed as JSON, except texts, broken JSON, and members that are always texts', () => {
    const pairs = ['a=1', 'b=true', 'c=[1]', 'd=x=y', 'e=', 'api_key=123', 'f=1e3', 'g={broken', 'h=007', 'version=2'];
    expect(valuesOf({ p: pairs }).pairs('p')).toEqual({
      a: 1,
      b: true,
      c: [1],
      d: 'x=y',
      e: '',
      api_key: '123',
      f: 1000,
      g: '{broken',
      h: '007',
      version: '2',
    });
    expect(() => valuesOf({ p: ['=x'] }).pairs('p')).toThrow(UsageFailure);
    expect(() => valuesOf({ p: ['none'] }).pairs('p')).toThrow(UsageFailure);
  });

  it('are numbers, integers, lists and JSON objects, and refused otherwise', () => {
    expect(valuesOf({ n: '-2.5' }).number('n')).toBe(-2.5);
    expect(valuesOf({ l: ' a, ,b ' }).list('l')).toEqual(['a', 'b']);
    expect(valuesOf({}).list('l')).toBeNull();
    for (const text of ['', 'x', 'Infinity', 'NaN'])
      expect(() => valuesOf({ n: text }).number('n')).toThrow(UsageFailure);
    for (const text of ['1.5', '9007199254740993', ''])
      expect(() => valuesOf({ n: text }).integer('n')).toThrow(UsageFailure);
    for (const text of ['[]', '1', 'null', '{']) expect(() => valuesOf({ j: text }).json('j')).toThrow(UsageFailure);
  });
});

it.each([
  ['a  b', ['a', 'b']],
  [`a "b c" 'd "e'`, ['a', 'b c', 'd "e']],
  [String.raw`a\ b "\"" ''`, ['a b', '"', '']],
  ['', []],
  ['a "open', null],
])('the line %j of the shell has the words %j', (line, words) => {
  expect(wordsOf(line)).toEqual(words);
});
