import type { Caller } from '../../domain/caller.ts';
import type { CallLabels } from '../../domain/calls/call-labels.ts';
import { InvalidInput, Rejected } from '../../domain/errors.ts';
import { namesGuardrails } from '../../domain/guardrails/selection.ts';
import { requestTexts } from '../../domain/guardrails/texts/request-texts.ts';
import { withTexts } from '../../domain/guardrails/texts/walk.ts';
import { CHAT_COMPLETIONS } from '../../domain/inference/endpoint.ts';
import { type BatchLine, isEmbeddingUrl } from '../../domain/upstream-objects/batch-calls.ts';
import type { PassBody } from '../../domain/upstream-objects/pass-through.ts';
import type { RecordedGuardrails } from '../accounting/record.ts';
import { assertNoRepeatedMember } from './guarded-call.ts';
import type { CallGuard, Guards, RunningCall } from './guarding.ts';
import { withRequestTools } from './inspected-tools.ts';

/** Maximum number of lines of a file that guardrails check, as at OpenAI. */
const MAX_LINES = 50_000;

type FormBody = Extract<PassBody, { readonly kind: 'form' }>;

/** The guardrails of the lines of a batch file. */
export interface LineGuards {
  /** Names of the guardrails that check a request for a model before it is sent, each once. */
  namesFor(model: string, isEmbedding: boolean): readonly string[];
  /** The form with a check of each line. The check throws Rejected, which names the line, and what guardrails throw. */
  checked(body: FormBody, call: RunningCall): FormBody;
  /** The guardrails of all lines so far. Only runs that block or fail have an entry. */
  readonly recorded: RecordedGuardrails;
}

/** Names of the guardrails that check a request, before or during the call. */
const requestGuardrails = (guard: CallGuard): readonly string[] => [
  ...new Set([...guard.of('pre_call'), ...guard.of('during_call')].map(({ definition }) => definition.name)),
];

/**
 * The guardrails of a batch: those of the caller, of the model of each line, and those that run on every call. Null
 * where none can run. `ofModel` has the names of the guardrails of a model. A read of a line throws GuardrailMissing.
 */
export function lineGuardsOf(
  guards: Guards | null,
  {
    caller,
    labels,
    ofModel,
  }: {
    readonly caller: Caller;
    readonly labels: CallLabels | undefined;
    readonly ofModel: (model: string) => readonly string[];
  },
): LineGuards | null {
  if (guards === null) return null;
  /** Null for calls without guardrails of the request. */
  const guardsByCall = new Map<string, CallGuard | null>();
  const isNamedByKey = caller.key !== null && namesGuardrails(caller.key);

  function open(model: string, isEmbedding: boolean): CallGuard | null {
    const configured = ofModel(model);
    if (guards === null || (guards.isIdle() && configured.length === 0 && !isNamedByKey)) return null;
    const guard = guards.open({ caller, model, labels, configured, isEmbedding });
    return guard.checksRequest() ? guard : null;
  }

  function guardOf(model: string, isEmbedding: boolean): CallGuard | null {
    const id = `${isEmbedding ? 'embedding' : 'text'} ${model}`;
    let guard = guardsByCall.get(id);
    if (guard === undefined) {
      guard = open(model, isEmbedding);
      guardsByCall.set(id, guard);
    }
    return guard;
  }

  const openGuards = (): readonly CallGuard[] => [...guardsByCall.values()].filter((guard) => guard !== null);

  const namesFor = (model: string, isEmbedding: boolean): readonly string[] => {
    const guard = guardOf(model, isEmbedding);
    return guard === null ? [] : requestGuardrails(guard);
  };

  return {
    namesFor,
    checked(body, call) {
      let lines = 0;
      return {
        ...body,
        async edit(line) {
          const guard = guardOf(line.model, isEmbeddingUrl(line.url));
          body.checked?.(line, guard === null ? [] : requestGuardrails(guard));
          if (guard === null) return null;
          lines += 1;
          if (lines > MAX_LINES) throw tooMany();
          return await checkedLine(guard, line, call);
        },
      };
    },
    recorded: {
      get applied() {
        return [...new Set(openGuards().flatMap(requestGuardrails))];
      },
      get entries() {
        return openGuards().flatMap(({ entries }) => entries);
      },
      // Calls about files record no texts.
      of: () => [],
      isRequestChecked: () => true,
    },
  };
}

/**
 * The changed members of a line, as JSON texts; null where its guardrails changed none. The texts are those of all
 * conversations, whatever the endpoint of the line: the upstream may use that of the batch.
 */
async function checkedLine(
  guard: CallGuard,
  line: BatchLine,
  call: RunningCall,
): Promise<Readonly<Record<string, string>> | null> {
  try {
    assertNoRepeatedMember(guard, { bytes: line.bytes, fromLevel: 1 });
    const places = requestTexts(CHAT_COMPLETIONS, line.body);
    const running = withRequestTools(call, line.body);
    const { texts, isEdited } = await guard.check('pre_call', places, running, 'failures');
    const current = places.map(({ role, text }, index) => ({ role, text: texts[index] ?? text }));
    await guard.checkAtOnce('during_call', current, running, 'failures');
    if (!isEdited) return null;
    const changes = Object.entries(withTexts(line.body, places, texts));
    return Object.fromEntries(changes.map(([member, value]) => [member, JSON.stringify(value)]));
  } catch (failure) {
    throw withLine(failure, line);
  }
}

/** A refusal whose message names the line; other failures as they are. */
function withLine(failure: unknown, { number }: BatchLine): unknown {
  const messageOf = ({ message }: Error): string => `/files: Line ${number} of the file: ${message}`;
  if (failure instanceof Rejected) {
    const { guardrail, detail } = failure;
    return new Rejected(messageOf(failure), guardrail, { ...detail, line: number }, { cause: failure });
  }
  if (!(failure instanceof InvalidInput)) return failure;
  const message = messageOf(failure);
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}

function tooMany(): InvalidInput {
  const message = `/files: The guardrails of this call check at most ${MAX_LINES} lines of a file.`;
  return new InvalidInput(message, [{ path: ['body', 'file'], rule: 'batch_line', message }]);
}
