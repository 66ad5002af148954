import { expect, it } from 'vitest';
import { providerLabel } from '../../../src/domain/traces/provider-label.ts';

it.each([
  ['OpenAI', 'openai'],
  ['openai.chat', 'openai'],
  ['openai.responses', 'openai'],
  ['openai.embedding', 'openai'],
  ['anthropic.messages', 'anthropic'],
  [' Anthropic ', 'anthropic'],
  ['aws.bedrock', 'aws.bedrock'],
  ['azure.ai.openai', 'azure.ai.openai'],
  ['gcp.vertex_ai', 'gcp.vertex_ai'],
  ['google.generative-ai', 'google.generative-ai'],
])('provider %j has the label %j', (providerName, label) => {
  expect(providerLabel(providerName)).toBe(label);
});
