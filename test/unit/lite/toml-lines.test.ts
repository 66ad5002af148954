import { expect, it } from 'vitest';
import { statementsOf, textOfStatements } from '../../../lite/agents/toml-lines.ts';

const DOCUMENT = `# a comment with [brackets] and "quotes
model = "x" # = not a key
"profile" = 'p'
notify = [
  "a]", # "
  { b = 1 },
]
text = """
[model_providers.litellm]
model = "inside"
"""""
raw = '''one
[two]'''
a . "b.c" = 1
path = 'C:\\'

[ model_providers . "other" ] # [no]
model = "y"
[[list]]
`;

it('a document is split into statements, with all lines of multi-line strings and lists', () => {
  const statements = statementsOf(DOCUMENT);
  expect(textOfStatements(statements)).toBe(DOCUMENT);
  expect(
    statements.filter(({ kind }) => kind !== 'other').map(({ kind, path, lines }) => [kind, path, lines.length]),
  ).toEqual([
    ['pair', 'model', 1],
    ['pair', 'profile', 1],
    ['pair', 'notify', 4],
    ['pair', 'text', 4],
    ['pair', 'raw', 2],
    ['pair', 'a.b.c', 1],
    ['pair', 'path', 1],
    ['header', 'model_providers.other', 1],
    ['pair', 'model', 1],
    ['header', 'list', 1],
  ]);
});
