import { parentPort, workerData } from 'node:worker_threads';
import { InvalidInput, TooLarge } from './domain/errors.ts';
import type { OtlpLimits } from './domain/traces/otlp-limits.ts';
import { packExport, payloadAt, withoutSpans } from './trace-packing.ts';
import type { PackingFailure, PackingTask } from './trace-packer.ts';

// Opens and reads the bodies of exports on a thread of its own, one after the other.

if (parentPort === null) throw new Error('This module is the body of a worker thread.');
const port = parentPort;
const limits = workerData as OtlpLimits;

function perform(task: PackingTask): unknown {
  switch (task.kind) {
    case 'pack': {
      const { body, traces } = packExport(task.sent, limits);
      // The sender's own bytes are still where they came from.
      return { traces, body: body.bytes === task.sent.bytes ? { ...body, bytes: null } : body };
    }
    case 'payload':
      return payloadAt(task.body, task.at, task.owner, limits.valueBytes);
    case 'without':
      return withoutSpans(task.body, task.traceIds);
  }
}

/** Errors travel as fields: structured cloning makes plain ones of them. */
function failureOf(error: unknown): PackingFailure {
  if (error instanceof TooLarge) return { kind: 'too large', message: error.message, limit: error.limit };
  if (error instanceof InvalidInput) return { kind: 'invalid', message: error.message };
  return { kind: 'fault', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

port.on('message', (task: PackingTask) => {
  try {
    port.postMessage({ result: perform(task) });
  } catch (error) {
    port.postMessage({ failure: failureOf(error) });
  }
});
