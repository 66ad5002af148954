import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../src/domain/chat/provider.ts';
import { type Vendor, vendorOf } from '../../src/domain/chat/vendors.ts';

const DOCUMENT = fileURLToPath(new URL('../../docs/providers.md', import.meta.url));

const HEAD = `# Providers

Written by \`test/house/providers.test.ts\` from \`src/domain/chat/vendors.ts\`. A model of the configuration names its
provider before the first slash of \`litellm_params.model\`: \`groq/llama-3.3-70b-versatile\`. A provider that is not here is
spoken to in chat completions where \`api_base\` says where it is.

Of several variables the first that is set counts; the file wins over all of them. A key in the environment goes to the
vendor's own address, or to that of the environment; where the file names another \`api_base\`, it names the \`api_key\` too.
A model without the key it needs is told at start, and is not a reason not to start.

| Provider | Address | Address by variable | Key by variable | Further settings, by variable |
| --- | --- | --- | --- | --- |
`;

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function rowOf(name: string, vendor: Vendor | null): string {
  if (vendor === null) return `| \`${name}\` | built in | | none | |`;
  const { base, baseVariables, keyVariables, keyOptional, settings, credentials } = vendor;
  const further = Object.entries({ ...settings, ...credentials }).map(
    ([setting, variables]) => `\`${setting}\`${variables.length === 0 ? '' : ` (${code(variables)})`}`,
  );
  const key = `${code(keyVariables)}${keyOptional ? ', optional' : ''}`;
  return `| \`${name}\` | ${base === null ? '`api_base`' : base} | ${code(baseVariables)} | ${key} | ${further.join(', ')} |`;
}

it('every provider is in docs/providers.md, with what the environment may say of it', async () => {
  const rows = PROVIDER_NAMES.toSorted().map((name) => rowOf(name, vendorOf(name)));
  await expect(`${HEAD}${rows.join('\n')}\n`).toMatchFileSnapshot(DOCUMENT);
});
