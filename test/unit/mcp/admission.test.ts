import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated } from '../../../src/domain/errors.ts';
import {
  admissionKindOf,
  assertAdmitted,
  McpChallenge,
  type McpCredentials,
  namedServers,
} from '../../../src/domain/mcp/admission.ts';
import type { McpServerAuth } from '../../../src/domain/mcp-servers/mcp-server.ts';
import { anMcpServer } from '../../support/mcp-servers.ts';

const CALLER: Caller = { role: 'internal_user', keyHash: 'h', key: null, teamId: null, userId: null };
const REFUSED = new Unauthenticated('Invalid proxy server token passed.', 'unknown');

const NOTHING: McpCredentials = { caller: null, refusedKey: null, callerToken: null };
const TOKEN: McpCredentials = { caller: null, refusedKey: REFUSED, callerToken: 'Bearer t' };
const KEY: McpCredentials = { caller: CALLER, refusedKey: null, callerToken: null };
const BOTH: McpCredentials = { caller: CALLER, refusedKey: null, callerToken: 'Bearer t' };

const AUTH: Readonly<Record<string, McpServerAuth>> = {
  none: { kind: 'none' },
  managed: { kind: 'unsupported', authType: 'oauth2' },
  delegate: { kind: 'caller_token', requiresKey: true },
  passthrough: { kind: 'caller_token', requiresKey: false },
};

/** Outcome in the notation of the contract: `ok`, or the body and the target of the challenge. */
function outcomeOf(auth: string, credentials: McpCredentials): string {
  const kind = admissionKindOf([anMcpServer({ auth: AUTH[auth] ?? { kind: 'none' } })]);
  try {
    assertAdmitted(kind, credentials, { base: 'http://b', resourcePath: '/files/mcp', name: 'files' });
    return 'ok';
  } catch (error) {
    if (!(error instanceof McpChallenge)) return error instanceof Unauthenticated ? 'X' : String(error);
    const { target, isForGateway } = error;
    const body = isForGateway ? 'C' : 'U';
    if (target.kind === 'authorization_server') return `${body} uri ${target.server}`;
    return `${body} ${target.hasInvalidToken ? 'Pi' : 'P'} ${target.path}`;
  }
}

describe('assertAdmitted', () => {
  it.each([
    ['none', 'C P /files/mcp', 'C Pi /files/mcp', 'ok', 'ok'],
    ['managed', 'C P /files/mcp', 'C Pi /files/mcp', 'U uri files', 'U uri files'],
    ['delegate', 'X', 'X', 'U P /files/mcp', 'ok'],
    ['passthrough', 'U P /files/mcp', 'ok', 'U P /files/mcp', 'ok'],
  ])('%s: nothing, only a token, only a key, both', (auth, nothing, token, key, both) => {
    const outcomes = [NOTHING, TOKEN, KEY, BOTH].map((credentials) => outcomeOf(auth, credentials));
    expect(outcomes).toEqual([nothing, token, key, both]);
  });
});

describe('admissionKindOf', () => {
  const passthrough = anMcpServer({ id: 'p', auth: { kind: 'caller_token', requiresKey: false } });

  it('needs a key unless all servers authenticate their callers themselves', () => {
    expect(admissionKindOf([])).toBe('gateway');
    expect(admissionKindOf([passthrough, passthrough])).toBe('passthrough');
    expect(admissionKindOf([passthrough, anMcpServer()])).toBe('gateway');
  });
});

describe('namedServers', () => {
  const files = anMcpServer({ id: '1', name: 'files', alias: 'f', accessGroups: ['tools'] });

  it.each([
    ['files', [files]],
    ['F', [files]],
    ['1', [files]],
    ['tools', [files]],
    ['other', []],
  ])('finds the servers of %s', (name, servers) => {
    expect(namedServers([files], { kind: 'servers', names: [name] })).toEqual(servers);
  });

  it('finds none for all servers, and for a toolset', () => {
    expect(namedServers([files], { kind: 'all' })).toEqual([]);
    expect(namedServers([files], { kind: 'toolset', name: 'files' })).toEqual([]);
  });
});
