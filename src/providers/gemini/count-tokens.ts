import type { HttpClient } from '../../domain/http.ts';
import { COUNT_CONTENT_TOKENS } from '../../domain/inference/endpoint.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { errorOf } from '../../wire/generate-content/answer.ts';
import { createTokenCount, type TokenCounter } from '../counting.ts';
import type { Protocol } from '../http-provider.ts';
import { geminiAddress } from './gemini.ts';

/** Sends a complete generateContent request with its model. A request with contents only would not count tools. */
const prepare: Protocol['prepare'] = (deployment, { body }) => {
  const { url, headers } = geminiAddress(deployment, 'countTokens');
  const members = Object.entries(body).filter(([member]) => !isGatewayField(member));
  const request = { ...Object.fromEntries(members), model: `models/${deployment.upstreamModel}` };
  return { url, headers, body: Buffer.from(JSON.stringify({ generateContentRequest: request })) };
};

/** Token counter of the Gemini API. */
export const geminiCount = (http: HttpClient): TokenCounter => ({
  endpoint: COUNT_CONTENT_TOKENS,
  members: ['contents', 'systemInstruction', 'tools', 'toolConfig'],
  count: createTokenCount(http, { prepare, errorOf, member: 'totalTokens' }),
});
