import { z } from 'zod';
import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import { inParallel } from '../../domain/in-parallel.ts';
import type { GuardrailKind } from './active-guardrails.ts';
import { GuardrailFault, readParams, SERVICE_SETTINGS } from './params.ts';
import { baseOf, createService, type Service } from './service.ts';

const MODEL = 'omni-moderation-latest';
const OPENAI = 'https://api.openai.com/v1';
/** Maximum texts of one request. */
const MAX_TEXTS_PER_REQUEST = 32;
const MAX_CONCURRENT_REQUESTS = 4;

const settings = z.looseObject({ ...SERVICE_SETTINGS, model: z.string().min(1).nullish() });

const result = z.looseObject({
  flagged: z.boolean(),
  categories: z.record(z.string(), z.boolean().nullable()),
  category_scores: z.record(z.string(), z.number().nullable()).default({}),
});
const answer = z.looseObject({ results: z.array(result) });

type Moderation = z.output<typeof result>;

/** Blocks texts that a moderation API in the format of OpenAI flags. */
export const openAiModeration =
  (http: Parameters<typeof createService>[0]): GuardrailKind =>
  (params, { name }): Guardrail => {
    const read = readParams(settings, params);
    const { api_base: base, api_key: key, model, timeout, unreachable_fallback: fallback } = read;
    if (!base && !key) throw new GuardrailFault('api_key: it is needed, or api_base for a service without a key');
    const service = createService(http, {
      guardrail: name,
      timeoutSeconds: timeout ?? null,
      failsOpen: fallback === 'fail_open',
    });
    const url = `${baseOf(base ?? OPENAI)}/moderations`;
    const headers: Readonly<Record<string, string>> = key ? { authorization: `Bearer ${key}` } : {};

    async function moderate(texts: readonly string[], signal: AbortSignal): Promise<readonly Moderation[]> {
      const parsed = answer.safeParse(
        await service.post(url, headers, { model: model ?? MODEL, input: texts }, signal),
      );
      if (!parsed.success || parsed.data.results.length !== texts.length) throw unexpectedAnswer(service);
      return parsed.data.results;
    }

    return {
      check: (inspection) =>
        service.passIfUnreachable(inspection, async () => {
          const { texts, signal } = inspection;
          const groups = Array.from({ length: Math.ceil(texts.length / MAX_TEXTS_PER_REQUEST) }, (_, index) =>
            texts.slice(index * MAX_TEXTS_PER_REQUEST, (index + 1) * MAX_TEXTS_PER_REQUEST).map(({ text }) => text),
          );
          const results = (
            await inParallel(groups, MAX_CONCURRENT_REQUESTS, (group) => moderate(group, signal))
          ).flat();
          const flagged = results.filter((one) => one.flagged);
          if (flagged.length === 0) return { kind: 'passed' };
          const moderation = {
            violated_categories: namesOf(flagged),
            category_scores: Object.assign({}, ...flagged.map((one) => one.category_scores)) as object,
          };
          const detail = { error: 'Violated OpenAI moderation policy', moderation_result: moderation };
          return { kind: 'blocked', detail, report: moderation };
        }),
    };
  };

const namesOf = (flagged: readonly Moderation[]): readonly string[] => [
  ...new Set(
    flagged.flatMap(({ categories }) =>
      Object.entries(categories).flatMap(([name, isViolated]) => (isViolated === true ? [name] : [])),
    ),
  ),
];

const unexpectedAnswer = (service: Service) =>
  service.failed('its answer is not a list of moderations with one entry for each text');
