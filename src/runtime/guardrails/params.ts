import { z } from 'zod';

/** Invalid settings of a guardrail. The message names the setting; it has no capital letter and no full stop. */
export class GuardrailFault extends Error {}

/** Reads the settings of a guardrail by the schema of its kind. Throws GuardrailFault with the first fault. */
export function readParams<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = (issue?.path ?? []).map(String).join('.');
  throw new GuardrailFault(`${place === '' ? 'its settings' : place}: ${issue?.message ?? 'invalid'}`);
}

/** Default timeout of a service, in seconds. */
export const DEFAULT_DEADLINE_SECONDS = 10;
const MAX_SECONDS = 600;

/** Common settings of the kinds that use `createService`. */
export const SERVICE_SETTINGS = {
  api_base: z.url({ protocol: /^https?$/ }).nullish(),
  api_key: z.string().nullish(),
  timeout: z.coerce.number().positive().max(MAX_SECONDS).nullish(),
  unreachable_fallback: z.enum(['fail_closed', 'fail_open']).nullish(),
} as const;
