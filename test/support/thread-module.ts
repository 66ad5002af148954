import type { ThreadAnswer } from '../../src/runtime/tasks/thread-pool.ts';

export interface TestTask {
  readonly kind: 'say' | 'fail' | 'die' | 'hold';
  readonly text: string;
}

/**
 * Handler that the threads of a tested pool import. By its kind, a task is answered with its text, fails, ends the
 * thread, or never ends.
 */
export async function answerTo(task: TestTask): Promise<ThreadAnswer<string, string>> {
  switch (task.kind) {
    case 'say':
      return { result: task.text };
    case 'fail':
      return { failure: task.text };
    case 'die':
      setImmediate(() => {
        throw new Error(task.text);
      });
      return new Promise(() => {});
    case 'hold':
      return new Promise(() => {});
  }
}
