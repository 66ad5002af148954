import { z } from 'zod';
import type { Guardrail, Inspection, Verdict } from '../../domain/guardrails/guardrail.ts';
import { inParallel } from '../../domain/in-parallel.ts';
import type { GuardrailKind } from './active-guardrails.ts';
import { GuardrailFault, readParams, SERVICE_SETTINGS } from './params.ts';
import { baseOf, createService } from './service.ts';

const MAX_CONCURRENT_REQUESTS = 8;

const address = z.url({ protocol: /^https?$/ });

const settings = z.looseObject({
  ...SERVICE_SETTINGS,
  presidio_analyzer_api_base: address.nullish(),
  presidio_anonymizer_api_base: address.nullish(),
  presidio_language: z.string().min(2).nullish(),
  pii_entities_config: z.record(z.string(), z.enum(['MASK', 'BLOCK'])).nullish(),
  presidio_score_thresholds: z.record(z.string(), z.number().min(0).max(1)).nullish(),
  presidio_filter_scope: z.enum(['input', 'output', 'both']).nullish(),
  presidio_ad_hoc_recognizers: z.unknown().optional(),
});

const finding = z.looseObject({
  entity_type: z.string(),
  start: z.int().min(0),
  end: z.int().min(0),
  score: z.number().nullish(),
});
const findings = z.array(finding);
const anonymized = z.looseObject({ text: z.string() });

type Finding = z.output<typeof finding>;

/** Finds personal data with a Presidio analyzer. Masks it with the anonymizer, or blocks the call. */
export const presidio =
  (http: Parameters<typeof createService>[0]): GuardrailKind =>
  (params, { name }): Guardrail => {
    const read = readParams(settings, params);
    const analyzer = read.presidio_analyzer_api_base;
    const anonymizer = read.presidio_anonymizer_api_base;
    if (!analyzer) throw new GuardrailFault('presidio_analyzer_api_base: it is needed');
    if (!anonymizer) throw new GuardrailFault('presidio_anonymizer_api_base: it is needed');
    if (read.presidio_ad_hoc_recognizers !== undefined && read.presidio_ad_hoc_recognizers !== null)
      throw new GuardrailFault('presidio_ad_hoc_recognizers: they are not supported');
    const entities = read.pii_entities_config ?? {};
    const configuredEntities = Object.keys(entities);
    const thresholds = read.presidio_score_thresholds ?? {};
    const scope = read.presidio_filter_scope ?? 'both';
    const service = createService(http, {
      guardrail: name,
      timeoutSeconds: read.timeout ?? null,
      failsOpen: read.unreachable_fallback === 'fail_open',
    });
    const headers: Readonly<Record<string, string>> = read.api_key ? { authorization: `Bearer ${read.api_key}` } : {};

    async function analyze(
      text: string,
      { language, entities: requested, signal }: Pick<Inspection, 'language' | 'entities' | 'signal'>,
    ): Promise<readonly Finding[]> {
      // Without a list, the analyzer looks for all kinds.
      const kinds = requested ?? (configuredEntities.length === 0 ? undefined : configuredEntities);
      const body = {
        text,
        language: language ?? read.presidio_language ?? 'en',
        ...(kinds === undefined ? {} : { entities: kinds }),
      };
      const found = findings.safeParse(await service.post(`${baseOf(analyzer ?? '')}/analyze`, headers, body, signal));
      if (!found.success) throw service.failed('the answer of the analyzer is not a list of findings');
      return found.data.filter(
        ({ entity_type: kind, score }) => (score ?? 1) >= (thresholds[kind] ?? thresholds['ALL'] ?? 0),
      );
    }

    async function mask(text: string, found: readonly Finding[], signal: AbortSignal): Promise<string> {
      if (found.length === 0) return text;
      const body = { text, analyzer_results: found };
      const url = `${baseOf(anonymizer ?? '')}/anonymize`;
      const masked = anonymized.safeParse(await service.post(url, headers, body, signal));
      if (!masked.success) throw service.failed('the answer of the anonymizer has no text');
      return masked.data.text;
    }

    return {
      check: (inspection) =>
        service.passIfUnreachable(inspection, async (): Promise<Verdict> => {
          const { texts, phase, signal } = inspection;
          const side = phase === 'request' ? 'input' : 'output';
          if (scope !== 'both' && scope !== side) return { kind: 'passed' };
          const foundByText = await inParallel(texts, MAX_CONCURRENT_REQUESTS, ({ text }) => analyze(text, inspection));
          const found = foundByText.flat();
          if (found.length === 0) return { kind: 'passed' };
          const blocked = found.find(({ entity_type: kind }) => entities[kind] === 'BLOCK');
          if (blocked !== undefined) return { kind: 'blocked', detail: refusal(blocked.entity_type, name) };
          const edited = await inParallel(texts, MAX_CONCURRENT_REQUESTS, ({ text }, index) =>
            mask(text, foundByText[index] ?? [], signal),
          );
          const foundByKind = Object.groupBy(found, ({ entity_type: kind }) => kind);
          return {
            kind: 'edited',
            texts: edited,
            masked: Object.fromEntries(Object.entries(foundByKind).map(([kind, ones]) => [kind, ones?.length ?? 0])),
          };
        }),
    };
  };

const refusal = (entity: string, name: string): string =>
  `Blocked entity detected: ${entity} by Guardrail: ${name}. This entity is not allowed to be used in this request.`;
