import { allTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { McpToolResult } from '../../domain/mcp/mcp-upstream.ts';
import type { CallGuard, RunningCall } from '../guardrails/guarding.ts';

/** Members of content that guardrails do not check: binary data as Base64. */
const BINARY_MEMBERS = new Set(['data', 'blob']);

/**
 * Checks every text in the arguments of a tool. Returns the arguments with edited texts, or the same object without an
 * edit. Throws Rejected, GuardrailFailed and Unavailable.
 */
export async function checkArguments(guard: CallGuard, args: JsonObject, call: RunningCall): Promise<JsonObject> {
  if (!guard.checksRequest()) return args;
  const places = allTexts({ args });
  const { texts, isEdited } = await guard.check('pre_call', places, call);
  const current = places.map(({ role, text }, index) => ({ role, text: texts[index] ?? text }));
  await guard.checkAtOnce('during_call', current, call);
  if (!isEdited) return args;
  return { ...args, ...(withTexts({ args }, places, texts)['args'] as JsonObject) };
}

/** As `checkArguments`, for the content of a result. */
export async function checkResult(guard: CallGuard, result: McpToolResult, call: RunningCall): Promise<McpToolResult> {
  if (!guard.has('post_call')) return result;
  const { content, structuredContent } = result;
  const checked: JsonObject = { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  const places = allTexts(checked).filter(({ path }) => !BINARY_MEMBERS.has(String(path.at(-1))));
  const { texts, isEdited } = await guard.check('post_call', places, call);
  return isEdited ? { ...result, ...withTexts(checked, places, texts) } : result;
}
