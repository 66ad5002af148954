import { parentPort, receiveMessageOnPort } from 'node:worker_threads';

export interface Told {
  readonly kind: 'say' | 'fail' | 'die' | 'hold' | 'tell what waits';
  readonly text: string;
}

// A thread that follows its message: it answers, fails, exits, waits for the next message, or reports its own state
// beside this and forgets it.

function textsAtHand(): readonly string[] {
  const next: { readonly message: Told } | undefined =
    parentPort === null ? undefined : receiveMessageOnPort(parentPort);
  return next === undefined ? [] : [next.message.text, ...textsAtHand()];
}

parentPort?.on('message', (task: Told) => {
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
      parentPort?.postMessage({ result: textsAtHand() });
      break;
    case 'hold':
  }
});
