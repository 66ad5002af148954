import type { HttpClient } from '../../domain/http.ts';
import { COUNT_CONTENT_TOKENS } from '../../domain/inference/endpoint.ts';
import { isGatewayField } from '../../domain/inference/gateway-fields.ts';
import { errorOf } from '../../wire/generate-content/answer.ts';
import { type Counting, countedBy } from '../counting.ts';
import type { Protocol } from '../http-provider.ts';
import { geminiAddress } from './gemini.ts';

/** Google takes what is to be counted as a request with its model in it: contents alone would leave out tools. */
const prepare: Protocol['prepare'] = (deployment, { body }) => {
  const { url, headers } = geminiAddress(deployment, 'countTokens');
  const asked = Object.entries(body).filter(([member]) => !isGatewayField(member));
  const request = { ...Object.fromEntries(asked), model: `models/${deployment.upstreamModel}` };
  return { url, headers, body: Buffer.from(JSON.stringify({ generateContentRequest: request })) };
};

/** The Gemini API's count of the tokens of what is to be generated from. */
export const geminiCount = (http: HttpClient): Counting => ({
  endpoint: COUNT_CONTENT_TOKENS,
  members: ['contents', 'systemInstruction', 'tools', 'toolConfig'],
  count: countedBy(http, { prepare, errorOf, member: 'totalTokens' }),
});
