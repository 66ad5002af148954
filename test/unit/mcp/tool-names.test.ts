import { describe, expect, it } from 'vitest';
import { isNamed, prefixedName, prefixOf, splitName } from '../../../src/domain/mcp/tool-names.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

describe('the prefix of tools', () => {
  it('is the alias, else the name, else the id, with underscores for spaces', () => {
    expect(prefixOf(anMcpServer({ alias: 'f' }))).toBe('f');
    expect(prefixOf(anMcpServer({ name: 'my files' }))).toBe('my_files');
    expect(prefixOf(anMcpServer({ name: null }))).toBe('server-1');
    expect(prefixedName(anMcpServer(), 'read-file')).toBe('files-read-file');
  });
});

describe('the name of a call', () => {
  const files = anMcpServer({ id: 'server-1', name: 'files', alias: 'f' });
  const ids = anMcpServer({ id: 'f-2', name: null });

  it('selects a server by its prefix, name or id, without regard to case', () => {
    expect(splitName([files, ids], 'f-read-file')).toEqual({ server: files, tool: 'read-file' });
    expect(splitName([files, ids], 'FILES-read')).toEqual({ server: files, tool: 'read' });
    expect(splitName([files, ids], 'server-1-read')).toEqual({ server: files, tool: 'read' });
  });

  it('selects the server with the longest prefix', () => {
    expect(splitName([files, ids], 'f-2-read')).toEqual({ server: ids, tool: 'read' });
    expect(splitName([ids, files], 'f-2-read')).toEqual({ server: ids, tool: 'read' });
  });

  it('selects none without a prefix, or without a name after it', () => {
    expect(splitName([files, ids], 'read')).toBeNull();
    expect(splitName([files, ids], 'f-')).toBeNull();
  });
});

it('a text names a server by its id, or by its name or alias without regard to case', () => {
  const server = anMcpServer({ id: 'Id', name: 'Files', alias: 'F' });
  expect(['Id', 'files', 'f'].map((text) => isNamed(server, text))).toEqual([true, true, true]);
  expect(['id', 'file'].map((text) => isNamed(server, text))).toEqual([false, false]);
});
