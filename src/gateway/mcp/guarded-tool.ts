import { isDeeperThan } from '../../domain/catalog/nesting.ts';
import { Rejected } from '../../domain/errors.ts';
import { allTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { withTexts } from '../../domain/guardrails/texts/walk.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { McpToolResult } from '../../domain/mcp/mcp-upstream.ts';
import type { CallGuard, RunningCall } from '../guardrails/guarding.ts';

/**
 * Whether guardrails do not check a text: `content[i].data` and `content[i].resource.blob`, which are Base64. Members
 * of structured content with these names are checked.
 */
const isBinary = (path: readonly (string | number)[]): boolean =>
  path[0] === 'content' &&
  ((path.length === 3 && path[2] === 'data') || (path.length === 4 && path[2] === 'resource' && path[3] === 'blob'));

/** Maximum nesting of arguments and results with guardrails, which do not find deeper texts. */
const MAX_LEVELS = 256;

/** Throws Rejected for a value that is nested too deeply. */
function assertCheckable(guard: CallGuard, what: string, value: unknown): void {
  if (isDeeperThan(MAX_LEVELS, value))
    throw new Rejected(
      `The guardrails of this call cannot check ${what} with more than ${MAX_LEVELS} levels`,
      guard.applied[0] ?? '',
    );
}

/**
 * Checks every text in the arguments of a tool. Returns the arguments with edited texts, or the same object without an
 * edit. Throws Rejected, GuardrailFailed and Unavailable.
 */
export async function checkArguments(guard: CallGuard, args: JsonObject, call: RunningCall): Promise<JsonObject> {
  if (!guard.checksRequest()) return args;
  assertCheckable(guard, 'arguments', args);
  const places = allTexts({ args });
  const { texts, isEdited } = await guard.check('pre_call', places, call);
  const current = places.map(({ role, text }, index) => ({ role, text: texts[index] ?? text }));
  await guard.checkAtOnce('during_call', current, call);
  if (!isEdited) return args;
  return { ...args, ...(withTexts({ args }, places, texts)['args'] as JsonObject) };
}

/** Checks the texts of a result as `checkArguments` does. */
export async function checkResult(guard: CallGuard, result: McpToolResult, call: RunningCall): Promise<McpToolResult> {
  if (!guard.has('post_call')) return result;
  const { content, structuredContent } = result;
  const checked: JsonObject = { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  assertCheckable(guard, 'a result', checked);
  const places = allTexts(checked).filter(({ path }) => !isBinary(path));
  const { texts, isEdited } = await guard.check('post_call', places, call);
  return isEdited ? { ...result, ...withTexts(checked, places, texts) } : result;
}
