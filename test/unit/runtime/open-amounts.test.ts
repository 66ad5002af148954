import { expect, it } from 'vitest';
import type { Charge } from '../../../src/domain/admission/admission.ts';
import { OpenAmounts } from '../../../src/domain/admission/open-amounts.ts';
import { anAdmission } from '../../support/admission.ts';

const charge = (amount: bigint, refused: Charge['refused'] = 'at'): Charge => ({
  counter: 'key:k',
  limit: 10n,
  amount,
  refused,
});

async function aSetup(used: bigint) {
  const open = new OpenAmounts();
  const admission = anAdmission(() => Promise.resolve(used), { open });
  await admission.check([charge(1n)]);
  return { open, admission };
}

it.each(['at', 'above'] as const)(
  'a charge that is refused %s its limit is refused when use and open amounts reach the limit',
  async (refused) => {
    const { open, admission } = await aSetup(4n);
    open.hold('resp_1', { counters: ['key:k', 'team:t'], amount: 3n });
    open.hold('resp_2', { counters: ['key:k'], amount: 2n });
    expect(await admission.check([charge(1n, refused)])).toBe(null);
    open.hold('resp_3', { counters: ['key:k'], amount: 1n });
    // The refusal has the charge as the call has passed it, for its text.
    const refusal = { kind: 'refused', charge: charge(1n, refused), used: 4n, reserved: 6n };
    expect(await admission.reserve([charge(1n, refused)])).toEqual(refusal);
    open.release('resp_3');
    expect(await admission.reserve([charge(1n, refused)])).toMatchObject({ kind: 'reserved' });
    // That reservation and the open amounts reach the limit together.
    expect(await admission.check([charge(1n, refused)])).toMatchObject({ used: 4n, reserved: 6n });
  },
);

it('a charge of zero checks only the use', async () => {
  const { open, admission } = await aSetup(4n);
  open.hold('resp_1', { counters: ['key:k'], amount: 100n });
  expect(await admission.check([charge(0n)])).toBe(null);
  expect(await admission.check([charge(1n)])).toMatchObject({ kind: 'refused' });
});

it('an amount replaces the earlier one of its object, and counts once in each counter', () => {
  const open = new OpenAmounts();
  open.hold('resp_1', { counters: ['key:k', 'key:k'], amount: 3n });
  open.hold('resp_1', { counters: ['key:k'], amount: 5n });
  expect(open.of('key:k')).toBe(5n);
  open.hold('resp_1', { counters: ['key:k'], amount: 0n });
  expect(open.isEmpty).toBe(true);
});
