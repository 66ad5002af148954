import { allowAddress, disallowAddress, listAllowedAddresses } from '../resolvers/allowed-addresses.ts';
import { fields, requiredText } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

const readAddress = fields({ ip: requiredText });
const parseAddress = ({ body }: { readonly body: Uint8Array }) => ({ address: readAddress(body).ip });

const ROW = {
  ...MANAGEMENT,
  failureForm: { body: 'text' },
} as const;
const CHANGING = {
  ...ROW,
  method: 'POST',
  bodyLimit: 64 * 1024,
  parse: parseAddress,
  bodySchema: readAddress.schema,
} as const;

/** Client addresses that may send requests. */
export const allowedAddressRoutes: readonly RouteRow[] = [
  route({
    ...ROW,
    method: 'GET',
    name: 'allowedAddresses.list',
    paths: ['/get/allowed_ips'],
    statuses: [200, 401],
    bodyLimit: 0,
    parse: () => undefined,
    run: (scope) => listAllowedAddresses(scope, undefined),
    render: (data) => json({ data }),
  }),
  route({
    ...CHANGING,
    name: 'allowedAddresses.add',
    paths: ['/add/allowed_ip'],
    statuses: [200, 400, 401, 403, 422],
    async run(scope, input) {
      await allowAddress(scope, input);
      return input.address;
    },
    render: (address) => json({ message: `IP ${address} address added successfully`, status: 'success' }),
  }),
  route({
    ...CHANGING,
    name: 'allowedAddresses.delete',
    paths: ['/delete/allowed_ip'],
    statuses: [200, 400, 401, 403, 404, 422],
    async run(scope, input) {
      await disallowAddress(scope, input);
      return input.address;
    },
    render: (address) => json({ message: `IP ${address} deleted successfully`, status: 'success' }),
  }),
];
