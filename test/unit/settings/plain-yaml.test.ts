import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import { readPlainYaml } from '../../../src/runtime/settings/plain-yaml/plain-yaml.ts';
import { randomFrom } from '../../support/random.ts';

type Path = readonly (string | number)[];

/** Paths of a document with the lines of their keys or items, by the library. Null for an error. */
function placesOf(text: string): readonly (readonly [Path, number])[] | null {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  if (document.errors.length > 0) return null;
  const lineOf = (offset: number): number => counter.linePos(offset).line;
  const walk = (node: unknown, path: Path): (readonly [Path, number])[] => {
    if (isSeq(node))
      return node.items.flatMap((item, index) => {
        const itemPath = [...path, index];
        return [[itemPath, lineOf((item as Node).range?.[0] ?? 0)] as const, ...walk(item, itemPath)];
      });
    if (!isMap(node)) return [];
    return node.items.flatMap(({ key, value }) => {
      if (!isScalar(key)) return [];
      const keyPath = [...path, String(key.value)];
      return [[keyPath, lineOf(key.range?.[0] ?? 0)] as const, ...walk(value, keyPath)];
    });
  };
  return walk(document.contents, []);
}

/** Results of the subset parser and of the library. Null for a text outside the subset. */
function readings(text: string): { readonly plain: unknown; readonly expected: unknown } | null {
  const plain = readPlainYaml(text);
  if (plain === null) return null;
  const places = placesOf(text);
  const linesOf = places?.map(([path]) => [path, plain.lineOf(path)]);
  return {
    plain: { text, value: plain.value, places: linesOf },
    expected: { text, value: parseDocument(text).toJS() as unknown, places: places ?? 'a fault' },
  };
}

const CONFIG = {
  model_list: [
    { model_name: 'a', litellm_params: { model: 'openai/a', timeout: 1.5, api_key: 'os.environ/KEY' } },
    { model_name: 'b/c', litellm_params: { model: 'x', drop_params: true, tpm: null, tags: ['p', 'q'] } },
  ],
  general_settings: { master_key: 'sk-1', allowed_ips: ['10.0.0.0/8', 'a::1'], empty: [], none: {} },
  include: ['other.yaml'],
};
const HAND_WRITTEN = `# first
model_list:
- model_name: a   
  litellm_params:
    model: openai/a
    api_base: http://127.0.0.1:1/v1
  # between
  model_info:
    id: "quoted"
    mode: 'chat'
-   model_name: spaced
    litellm_params:
        model: deep

general_settings:
    list:
    - 1
    - -2
    - 0.5
    - 30d
    - 1e3x
    - 127.0.0.1
    - "[]"
    none:
    flag: true
`;

describe('the YAML subset', () => {
  it.each([
    ['a configuration as the library writes it', stringify(CONFIG)],
    ['lists at the indent of their key', stringify(CONFIG, { indentSeq: false })],
    ['a hand-written file', HAND_WRITTEN],
  ])('contains %s', (_what, text) => {
    const read = readings(text);
    expect(read).not.toBeNull();
    expect(read?.plain).toEqual(read?.expected);
  });

  it.each([
    ['an anchor', 'a: &x 1'],
    ['an alias', 'a: *x'],
    ['a tag', 'a: !!str 1'],
    ['a block scalar', 'a: |\n  b'],
    ['a flow list with an item', 'a: [b]'],
    ['a comment after a value', 'a: b # c'],
    ['a continued scalar', 'a: b\n  c'],
    ['an escape', String.raw`a: "\n"`],
    ['a duplicate key', 'a: 1\na: 2'],
    ['an octal number', 'a: 0o17'],
    ['a number with an exponent', 'a: 1e3'],
    ['a leading zero', 'a: 007'],
    ['a merge', '<<: b'],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['a tab', 'a:\n\tb: 1'],
    ['a non-ASCII character', 'a: é'],
    ['the key __proto__', '__proto__: 1'],
    ['a key that is not a text', 'null: 1'],
    ['a wrong indent', 'a:\n    b: 1\n  c: 2'],
    ['a list at the top level', '- a'],
    ['an empty text', ''],
  ])('leaves %s to the library', (_what, text) => {
    expect(readPlainYaml(text)).toBeNull();
  });

  it('reads damaged texts like the library, or leaves them to the library', () => {
    const random = randomFrom(7);
    const pieces = [
      ' ',
      '\n',
      ':',
      '-',
      '- ',
      ': ',
      '#',
      "'",
      '"',
      '0',
      'a',
      '~',
      '  ',
      '.',
      'null',
      '[]',
      '{',
      '&',
      '?',
    ];
    const sources = [stringify(CONFIG), stringify(CONFIG, { indentSeq: false }), HAND_WRITTEN];
    let compared = 0;
    for (let round = 0; round < 500; round += 1) {
      let text = sources[random(sources.length)] ?? '';
      for (let change = random(3); change >= 0; change -= 1) {
        const from = random(text.length);
        const piece = random(2) === 0 ? '' : (pieces[random(pieces.length)] ?? '');
        text = text.slice(0, from) + piece + text.slice(from + random(3));
      }
      const results = readings(text);
      if (results === null) continue;
      compared += 1;
      expect(results.plain).toEqual(results.expected);
    }
    expect(compared).toBeGreaterThan(60);
  });
});
