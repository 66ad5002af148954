import { type Usd, ZERO_USD } from '../../domain/money.ts';
import type { Gateway, ReservedCalls } from '../gateway.ts';

/** Creates the calls that are charged to a budget outside of the gateway and to the budgets of the caller. */
export const createReservedCalls = (call: Gateway['call']): ReservedCalls => ({
  async callReserved(caller, request, signal, { reservation, estimate, read }) {
    // A failed renewal is repeated by the next one, before the reservation expires.
    const renewing = setInterval(() => void reservation.renew().catch(() => {}), reservation.renewMs);
    let answer;
    let cost: Usd;
    try {
      const answered = await call(caller, request, signal);
      answer = await read(answered);
      cost = answered.cost() ?? estimate;
    } catch (failure) {
      await reservation.settle(ZERO_USD, null);
      throw failure;
    } finally {
      clearInterval(renewing);
    }
    await reservation.settle(cost, answer);
    return { answer, cost };
  },
});
