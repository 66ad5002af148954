import { describe, expect, it } from 'vitest';
import { type PaymentFact, stateByEvents } from '../../../src/domain/checkout/payment-event.ts';
import { permutationsOf } from '../../support/permutations.ts';

/** Event of a line `second fact [subject]`: its time, fact and object. */
function eventOf(line: string) {
  const [second = '', fact = '', subject = 'sub_1'] = line.split(' ');
  return { at: new Date(Number(second) * 1000), fact: fact as PaymentFact, subject };
}

const CASES: readonly (readonly [string, readonly string[], string])[] = [
  ['nothing', [], 'open'],
  ['a payment', ['1 paid'], 'paid'],
  ['a payment that takes days', ['1 processing'], 'processing'],
  ['a payment that succeeds later', ['1 processing', '9 paid'], 'paid'],
  ['a payment that fails later', ['1 processing', '9 payment_failed'], 'payment_failed'],
  ['an expired session', ['5 expired'], 'expired'],
  ['a payment before its session expired', ['1 paid', '5 expired'], 'paid'],
  ['a refund', ['1 paid', '2 refunded'], 'refunded'],
  ['a refund in the second of the payment', ['1 paid', '1 refunded'], 'refunded'],
  ['a refund of an unknown payment', ['2 refunded'], 'open'],
  ['a payment after a refund, of the next period', ['1 paid', '2 refunded', '30 paid'], 'paid'],
  ['a refund of the newest period', ['1 paid', '30 paid', '31 refunded'], 'refunded'],
  ['a dispute', ['1 paid', '2 disputed dp_1'], 'disputed'],
  ['a dispute that was won', ['1 paid', '2 disputed dp_1', '9 dispute_settled dp_1'], 'paid'],
  [
    'a dispute event after the settlement of the dispute',
    ['1 paid', '2 dispute_settled dp_1', '9 disputed dp_1'],
    'disputed',
  ],
  ['one of two disputes won', ['1 paid', '2 disputed dp_1', '2 disputed dp_2', '9 dispute_settled dp_1'], 'disputed'],
  ['a subscription that is paused', ['1 paid', '5 subscription_suspended'], 'suspended'],
  ['a subscription that is resumed', ['1 paid', '5 subscription_suspended', '9 subscription_active'], 'paid'],
  [
    'a suspension and a resumption in one second',
    ['1 paid', '5 subscription_suspended', '5 subscription_active'],
    'suspended',
  ],
  ['a subscription that ended', ['1 paid', '5 subscription_ended'], 'ended'],
  [
    'other events after the end of a subscription',
    ['1 paid', '5 subscription_ended', '9 subscription_active', '9 paid'],
    'ended',
  ],
  ['an end before the event of the payment', ['5 subscription_ended'], 'open'],
  ['a link of ids only', ['1 linked'], 'open'],
];

describe('stateByEvents', () => {
  it.each(CASES)('%s: %j is %s', (_name, lines, state) => {
    expect(stateByEvents(lines.map(eventOf)).state).toBe(state);
  });

  it('has the newest payment', () => {
    expect(stateByEvents(['9 paid', '3 paid'].map(eventOf)).paidAt).toEqual(new Date(9_000));
    expect(stateByEvents([eventOf('1 processing')]).paidAt).toBeNull();
  });

  it('depends on the set of events, not on their order or repetition', () => {
    // Every fact, with equal times and several objects. Each order of a set has one duplicate. Seven events have 5,040
    // orders.
    const sets = [
      ['1 paid', '2 refunded', '2 processing', '3 expired', '30 paid', '2 payment_failed', '1 linked'],
      [
        '1 paid',
        '5 subscription_suspended',
        '5 subscription_active',
        '6 subscription_active sub_2',
        '2 disputed dp_1',
        '2 dispute_settled dp_1',
        '7 dispute_settled dp_2',
      ],
      ['1 paid', '5 subscription_ended', '6 subscription_active', '7 refunded', '8 paid', '8 disputed dp_1'],
    ];
    for (const lines of sets) {
      const events = lines.map(eventOf);
      const outcomes = permutationsOf(events).map((order, index) => {
        const duplicate = order[index % order.length];
        return JSON.stringify(stateByEvents(duplicate ? [...order, duplicate] : order));
      });
      expect(new Set(outcomes).size).toBe(1);
    }
  });
});
