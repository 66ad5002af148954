import { A2A_AGENT_ANSWERS } from './answer-types/a2a-agents.ts';
import { CALLBACK_ANSWERS } from './answer-types/callback-settings.ts';
import { AUTO_ROUTER_ANSWERS } from './answer-types/auto-routers.ts';
import { GUARDRAIL_USE_ANSWERS } from './answer-types/guardrail-use.ts';
import { MCP_ENDPOINT_ANSWERS } from './answer-types/mcp-endpoints.ts';
import { MCP_TOOL_ANSWERS } from './answer-types/mcp-tools.ts';
import { MODELS_ANSWERS } from './answer-types/models.ts';
import { MCP_ANSWERS, MCP_TYPES } from './answer-types/mcp.ts';
import type { AnswerTypes } from './answer-types/notation.ts';
import { OWNERS_ANSWERS } from './answer-types/owners.ts';
import { PROCESS_ANSWERS } from './answer-types/process.ts';
import { SIGN_IN_ANSWERS } from './answer-types/sign-in.ts';
import { OTHER_TYPES } from './answer-types/shared.ts';
import { OWNER_TYPES } from './answer-types/shared-owners.ts';
import { SPEND_ANSWERS } from './answer-types/spend.ts';
import { MEMORY_ANSWERS } from './answer-types/memory.ts';
import { PLUGIN_ANSWERS } from './answer-types/plugins.ts';
import { SEARCH_ANSWERS } from './answer-types/search.ts';
import { PROVIDER_OBJECT_ANSWERS } from './answer-types/provider-objects.ts';
import { TOOL_ANSWERS } from './answer-types/tools.ts';
import { WORKFLOW_ANSWERS } from './answer-types/workflows.ts';
import { VIDEO_ANSWERS } from './answer-types/videos.ts';
import { VECTOR_STORE_ANSWERS } from './answer-types/vector-stores.ts';
import { POLICY_ANSWERS, POLICY_TYPES } from './answer-types/policies.ts';
import type { JsonSchema } from '../http/schema.ts';
import { schemaFrom } from '../http/type-notation.ts';

/** Types of the answers of rows, by row name, or by row name and status. A row without an entry has no stated type. */
export const ANSWER_TYPES: AnswerTypes = {
  ...MODELS_ANSWERS,
  ...OWNERS_ANSWERS,
  ...SPEND_ANSWERS,
  ...PROCESS_ANSWERS,
  ...SIGN_IN_ANSWERS,
  ...CALLBACK_ANSWERS,
  ...A2A_AGENT_ANSWERS,
  ...AUTO_ROUTER_ANSWERS,
  ...GUARDRAIL_USE_ANSWERS,
  ...MEMORY_ANSWERS,
  ...PLUGIN_ANSWERS,
  ...SEARCH_ANSWERS,
  ...TOOL_ANSWERS,
  ...WORKFLOW_ANSWERS,
  ...VECTOR_STORE_ANSWERS,
  ...PROVIDER_OBJECT_ANSWERS,
  ...VIDEO_ANSWERS,
  ...POLICY_ANSWERS,
  ...MCP_ANSWERS,
  ...MCP_ENDPOINT_ANSWERS,
  ...MCP_TOOL_ANSWERS,
};

/** Schemas of the components that answers refer to. */
export const sharedSchemas = (): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    Object.entries({ ...OWNER_TYPES, ...MCP_TYPES, ...POLICY_TYPES, ...OTHER_TYPES }).map(([name, type]) => [
      name,
      schemaFrom(type),
    ]),
  );

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

/** Media types of the answer of a row, with the schema of JSON; null if the row has no stated type. */
export function answerContent(name: string, status: number): Content | null {
  const types = ANSWER_TYPES[`${name} ${status}`] ?? (status < FIRST_FAILURE_STATUS ? ANSWER_TYPES[name] : undefined);
  if (types === undefined) return null;
  const byMedia = typeof types === 'string' ? { 'application/json': types } : types;
  return Object.fromEntries(
    Object.entries(byMedia).map(([media, type]) => [
      media,
      media === 'application/json' ? { schema: schemaFrom(type) } : {},
    ]),
  );
}

/** Lowest HTTP status of a failure. */
const FIRST_FAILURE_STATUS = 400;
