import type { ContentPart } from './content.ts';

/** Characters that are kept of one step: from its beginning and its end. */
const STEP = { head: 800, tail: 1_200 } as const;
/** Characters that are kept of all steps: from the beginning and the end of the execution. */
const ALL_STEPS = { head: 15_000, tail: 25_000 } as const;

/** One step of an execution, cut to a bounded length. */
interface Step {
  readonly kind: string;
  readonly name: string;
  readonly content: string;
}

/** Task of an execution, and its steps with a bounded total length. */
interface Transcript {
  readonly task: string;
  readonly steps: readonly Step[];
}

function cut(text: string): string {
  const { head, tail } = STEP;
  if (text.length <= head + tail) return text;
  return `${text.slice(0, head)}\n[${text.length - head - tail} characters omitted]\n${text.slice(-tail)}`;
}

/** The first steps whose texts have at most `most` characters in total. */
function fitting(steps: readonly Step[], most: number): readonly Step[] {
  let remaining = most;
  const end = steps.findIndex(({ content }) => {
    remaining -= content.length;
    return remaining < 0;
  });
  return end === -1 ? steps : steps.slice(0, end);
}

/**
 * The transcript of an execution from the parts of its trace. Of a long execution, steps between the first and the last
 * are left out.
 */
export function transcriptOf(task: string, parts: readonly ContentPart[]): Transcript {
  const steps = parts.map(({ kind, name, content }): Step => ({ kind, name, content: cut(content) }));
  const first = fitting(steps, ALL_STEPS.head);
  const last = fitting(steps.slice(first.length).toReversed(), ALL_STEPS.tail).toReversed();
  const omitted = steps.length - first.length - last.length;
  const gap = omitted === 0 ? [] : [{ kind: 'omitted', name: '', content: `${omitted} steps omitted` }];
  return { task, steps: [...first, ...gap, ...last] };
}
