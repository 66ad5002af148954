import { describe, expect, it } from 'vitest';
import { Conflict } from '../../../src/domain/errors.ts';
import { assertUniqueNames } from '../../../src/domain/mcp-servers/stored-server.ts';

const definition = (id: string, name: string) => ({
  id,
  params: { server_name: name, alias: name },
  isFromConfig: false,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
});
const FILES = definition('one', 'files');

describe('a server', () => {
  // A team chooses the id of a server that it submits. A grant of `files` must not select a server with that id.
  it.each([
    ['its id is the name of another', definition('Files', 'mine')],
    ['its name is the id of another', definition('two', 'One')],
    ['its id differs from another only in case', definition('ONE', 'mine')],
  ])('is refused when %s', (_title, added) => {
    expect(() => assertUniqueNames(added, [FILES])).toThrow(Conflict);
  });

  it('may have its own name as its id', () => {
    expect(() => assertUniqueNames(definition('mine', 'mine'), [FILES])).not.toThrow();
    expect(() => assertUniqueNames(FILES, [FILES])).not.toThrow();
  });
});
