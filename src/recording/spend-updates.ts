import type { Bus } from '../domain/bus.ts';
import type { CallRecorder } from '../gateway/gateway.ts';

/** Records calls, and publishes their spend while the bus has subscribers. */
export const publishingSpend = (recorder: CallRecorder, bus: Bus): CallRecorder => ({
  record(call) {
    recorder.record(call);
    if (bus.subscriberCount() > 0) bus.publish('spend', call.spend);
  },
});
