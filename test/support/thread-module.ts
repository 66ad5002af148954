import { parentPort, receiveMessageOnPort } from 'node:worker_threads';

export interface TestTask {
  readonly kind: 'say' | 'fail' | 'die' | 'hold' | 'tell what waits';
  readonly text: string;
}

// Worker thread for tests. The kind of a message selects what it does: answer with the text, fail, exit, send no answer, or
// return and remove the texts of the queued messages.

function queuedTexts(): readonly string[] {
  const next: { readonly message: TestTask } | undefined =
    parentPort === null ? undefined : receiveMessageOnPort(parentPort);
  return next === undefined ? [] : [next.message.text, ...queuedTexts()];
}

parentPort?.on('message', (task: TestTask) => {
  switch (task.kind) {
    case 'say':
      parentPort?.postMessage({ result: task.text });
      break;
    case 'fail':
      parentPort?.postMessage({ failure: task.text });
      break;
    case 'die':
      throw new Error(task.text);
    case 'tell what waits':
      parentPort?.postMessage({ result: queuedTexts() });
      break;
    case 'hold':
  }
});
