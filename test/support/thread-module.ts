import { parentPort } from 'node:worker_threads';

// A thread that does what it is told: answers, fails, dies, or waits for the next message.

parentPort?.on('message', (task: { readonly kind: 'say' | 'fail' | 'die' | 'hold'; readonly text: string }) => {
  switch (task.kind) {
    case 'say':
      parentPort?.postMessage({ result: task.text });
      break;
    case 'fail':
      parentPort?.postMessage({ failure: task.text });
      break;
    case 'die':
      throw new Error(task.text);
    case 'hold':
  }
});
