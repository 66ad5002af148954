import { workerData } from 'node:worker_threads';
import { InvalidInput, TooLarge } from '../domain/errors.ts';
import type { OtlpLimits } from '../domain/traces/otlp-limits.ts';
import { packedText } from '../domain/traces/packed-text.ts';
import { resultAnswer } from '../runtime/tasks/thread-answer.ts';
import { transferableBuffer, type ThreadAnswer } from '../runtime/tasks/thread-pool.ts';
import { packExport, payloadsAt, withoutSpans } from './pack-export.ts';
import type { PackedMessage, PackingFailure, PackingTask } from './export-packer.ts';

// Module of the worker threads that read exports and stored bodies.

const limits = workerData as OtlpLimits;

/** A result and the memory that is transferred with it. */
interface TaskResult {
  readonly result: unknown;
  readonly transferred: ArrayBuffer[];
}

function perform(task: PackingTask): TaskResult {
  switch (task.kind) {
    case 'pack': {
      const { body, ...tracesAndCalls } = packExport(task.sent, limits);
      const result: PackedMessage = { ...packedText(tracesAndCalls), body };
      return { result, transferred: [...transferableBuffer(body.bytes), ...transferableBuffer(result.rows)] };
    }
    case 'payloads':
      return { result: payloadsAt(task.body, task.places, task.owner, limits.valueBytes), transferred: [] };
    case 'without': {
      const result = withoutSpans(task.body, task.traceIds);
      return { result, transferred: transferableBuffer(result.bytes) };
    }
  }
}

/** Errors are sent as fields: structured cloning loses their class. */
function failureOf(error: unknown): PackingFailure {
  if (error instanceof TooLarge) return { kind: 'too large', message: error.message, limit: error.limit };
  if (error instanceof InvalidInput) return { kind: 'invalid', message: error.message };
  return { kind: 'fault', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

export function answerTo(task: PackingTask): unknown {
  try {
    const { result, transferred } = perform(task);
    return resultAnswer(result, transferred);
  } catch (error) {
    const answer: ThreadAnswer<unknown, PackingFailure> = { failure: failureOf(error) };
    return answer;
  }
}
