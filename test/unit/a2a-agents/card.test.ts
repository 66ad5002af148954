import { describe, expect, it } from 'vitest';
import { type A2aAgent, DEFAULT_AGENT } from '../../../src/domain/a2a-agents/agent.ts';
import { agentUrl, cardVersion, normalisedCard, servedCard } from '../../../src/domain/a2a-agents/card.ts';

const URL_OF_AGENT = 'http://agent.example/rpc';

describe('cards of agents', () => {
  it('the address and the version are those of the card, else of its JSON-RPC interface', () => {
    const rest = { url: 'http://rest.example/', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' };
    const rpc = { url: URL_OF_AGENT, protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const card = { supportedInterfaces: [rest, rpc] };
    expect([agentUrl(card), cardVersion(card)]).toEqual([URL_OF_AGENT, '1.0']);
    expect([agentUrl({ url: 'http://u/', ...card }), cardVersion({ protocolVersion: '0.3', ...card })]).toEqual([
      'http://u/',
      '0.3',
    ]);
    expect([agentUrl({}), cardVersion({})]).toEqual([null, null]);
  });

  it.each(['0.3', '0.3.0', '0.3.7', '1.0', '1.0.2'])('version %s is accepted', (protocolVersion) => {
    expect(normalisedCard({ protocolVersion }, 'a')['protocolVersion']).toBe(protocolVersion.slice(0, 3));
  });

  it.each(['0.2', '0.30', '1.1', '10.0', '1.0.0.0', 'x', 1])('version %j is refused', (protocolVersion) => {
    expect(() => normalisedCard({ protocolVersion }, 'a')).toThrow('protocolVersion must be 0.3 or 1.0');
  });

  it('a card without members gets defaults', () => {
    expect(normalisedCard({}, 'name')).toEqual({
      name: 'name',
      description: '',
      version: '1.0',
      protocolVersion: '1.0',
      capabilities: {},
      skills: [{ id: 'chat', name: 'Chat', tags: ['chat'], description: 'Conversational interaction with the agent.' }],
      defaultInputModes: ['text'],
      defaultOutputModes: ['text'],
    });
  });

  it('only streaming is kept of the capabilities', () => {
    const capabilities = { streaming: true, pushNotifications: true };
    expect(normalisedCard({ capabilities }, 'a')['capabilities']).toEqual({ streaming: true });
  });

  it.each([true, false])('a served card has no address of the agent (file: %s)', (isFromConfig) => {
    const card = {
      url: URL_OF_AGENT,
      additionalInterfaces: [{ url: URL_OF_AGENT, transport: 'JSONRPC' }],
      supportedInterfaces: [{ url: URL_OF_AGENT, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      signatures: [{ protected: 'x' }],
    };
    const agent: A2aAgent = {
      ...DEFAULT_AGENT,
      id: 'a',
      name: 'a',
      card: isFromConfig ? card : normalisedCard(card, 'a'),
      staticHeaders: {},
      isReadable: true,
      isFromConfig,
    };
    const served = servedCard(agent, 'a b', 'http://gateway');
    expect(JSON.stringify(served)).not.toContain('agent.example');
    expect(served).toMatchObject({
      url: 'http://gateway/a2a/a%20b',
      supportedInterfaces: [{ url: 'http://gateway/a2a/a%20b', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    });
    expect(served).not.toHaveProperty('signatures');
  });

  it.each([
    ['1.0', [{ url: 'http://gateway/a2a/a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]],
    ['0.3.0', undefined],
  ])('a card of the file without interfaces gets one where version %s needs it', (protocolVersion, interfaces) => {
    const card = { name: 'a', url: URL_OF_AGENT, protocolVersion };
    const agent: A2aAgent = {
      ...DEFAULT_AGENT,
      id: 'a',
      name: 'a',
      card,
      staticHeaders: {},
      isReadable: true,
      isFromConfig: true,
    };
    expect(servedCard(agent, 'a', 'http://gateway')['supportedInterfaces']).toEqual(interfaces);
  });
});
