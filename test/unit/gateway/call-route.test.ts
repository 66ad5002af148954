import { expect, it } from 'vitest';
import { routeOfCallType } from '../../../src/domain/inference/call-route.ts';

it.each([
  ['acompletion', '/chat/completions'],
  ['adecisions', '/decisions'],
  ['asystemone', '/systemone'],
  ['pass_through_endpoint', 'pass_through_endpoint'],
])('the route of %s is %s', (callType, route) => {
  expect(routeOfCallType(callType)).toBe(route);
});
