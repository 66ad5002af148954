import type { ProcessListener, ProcessMessages } from '../domain/process-messages.ts';

/** Shares one connection between all listeners. The connection is closed after the last listener has stopped. */
export function shareMessages(messages: ProcessMessages): ProcessMessages {
  const listeners = new Set<ProcessListener>();
  let listening: { stop(): Promise<void> } | null = null;
  let isJoined = false;

  function open(): { stop(): Promise<void> } {
    return messages.listen({
      message(text) {
        for (const { message } of listeners) message(text);
      },
      joined() {
        isJoined = true;
        for (const { joined } of listeners) joined();
      },
    });
  }

  return {
    ...messages,
    listen(listener) {
      listeners.add(listener);
      listening ??= open();
      if (isJoined) listener.joined();
      return {
        async stop() {
          listeners.delete(listener);
          if (listeners.size > 0) return;
          const last = listening;
          listening = null;
          isJoined = false;
          await last?.stop();
        },
      };
    },
  };
}
