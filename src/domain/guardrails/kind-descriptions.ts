import { GUARDRAIL_MODES, type GuardrailMode } from './definition.ts';

/** One setting of a kind of guardrails, for forms. */
export interface DescribedParam {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'select';
  readonly description: string;
  readonly required: boolean;
  readonly options?: readonly string[];
  /** Default value; absent for a setting without one. */
  readonly defaultValue?: unknown;
}

/** A kind of guardrails that this gateway supports. */
export interface DescribedKind {
  readonly kind: string;
  /** Name for people. */
  readonly title: string;
  readonly modes: readonly GuardrailMode[];
  readonly params: readonly DescribedParam[];
}

const FALLBACKS = ['fail_closed', 'fail_open'] as const;

const param = (
  name: string,
  type: DescribedParam['type'],
  description: string,
  { required = false, ...rest }: Partial<Pick<DescribedParam, 'options' | 'defaultValue' | 'required'>> = {},
): DescribedParam => ({ name, type, description, required, ...rest });

const API_BASE = param('api_base', 'string', 'Address of the service.');
const API_KEY = param('api_key', 'string', 'Key of the service, or `os.environ/NAME`. It is stored encrypted.');
const TIMEOUT = param('timeout', 'number', 'Timeout of a request to the service, in seconds.');
const UNREACHABLE = param('unreachable_fallback', 'select', 'What happens to calls when the service does not answer.', {
  options: FALLBACKS,
  defaultValue: 'fail_closed',
});

export const KIND_DESCRIPTIONS: readonly DescribedKind[] = [
  {
    kind: 'litellm_content_filter',
    title: 'Content filter',
    modes: GUARDRAIL_MODES,
    params: [
      param('patterns', 'array', 'Patterns to block or mask: prebuilt ones by name, or regular expressions.'),
      param('blocked_words', 'array', 'Words to block or mask, each with `keyword`, `action` and `description`.'),
      param('blocked_words_file', 'string', 'File with blocked words, on the machine of the gateway.'),
      param('pattern_redaction_format', 'string', 'Text in place of a masked pattern.', {
        defaultValue: '[{pattern_name}_REDACTED]',
      }),
      param('keyword_redaction_tag', 'string', 'Text in place of a masked word.'),
    ],
  },
  { kind: 'hide-secrets', title: 'Secret filter', modes: GUARDRAIL_MODES, params: [] },
  {
    kind: 'openai_moderation',
    title: 'Moderation in the format of OpenAI',
    modes: GUARDRAIL_MODES,
    params: [API_KEY, API_BASE, param('model', 'string', 'Model of the moderation.'), TIMEOUT, UNREACHABLE],
  },
  {
    kind: 'generic_guardrail_api',
    title: 'Own guardrail server',
    modes: GUARDRAIL_MODES,
    params: [
      { ...API_BASE, required: true },
      API_KEY,
      param('headers', 'object', 'Headers of requests to the server. They are stored encrypted.'),
      param('additional_provider_specific_params', 'object', 'Sent to the server as they are.'),
      TIMEOUT,
      UNREACHABLE,
    ],
  },
  {
    kind: 'decision_model',
    title: 'Decision model',
    modes: GUARDRAIL_MODES,
    params: [
      param('decision_model', 'string', 'Name of a model of this gateway that makes decisions.', { required: true }),
      param('checks', 'array', 'Up to 128 checks, each with `name`, `instructions`, `threshold` and `action`.', {
        required: true,
      }),
      UNREACHABLE,
    ],
  },
  { kind: 'tool_policy', title: 'Policies of tools', modes: ['pre_call', 'during_call', 'post_call'], params: [] },
  {
    kind: 'presidio',
    title: 'Presidio',
    modes: GUARDRAIL_MODES,
    params: [
      param('presidio_analyzer_api_base', 'string', 'Address of the analyzer.', { required: true }),
      param('presidio_anonymizer_api_base', 'string', 'Address of the anonymizer.'),
      param('pii_entities_config', 'object', '`MASK` or `BLOCK` by kind of entity.'),
      param('presidio_language', 'string', 'Language of the texts.', { defaultValue: 'en' }),
      TIMEOUT,
      UNREACHABLE,
    ],
  },
];

/** Kinds of personal data that Presidio recognises, by subject or by the country of the document. */
export const ENTITY_CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  General: names(
    'DATE_TIME EMAIL_ADDRESS IP_ADDRESS NRP LOCATION PERSON PHONE_NUMBER MEDICAL_LICENSE URL MAC_ADDRESS UUID',
  ),
  Finance: names('CREDIT_CARD CRYPTO IBAN_CODE'),
  USA: names('US_BANK_NUMBER US_DRIVER_LICENSE US_ITIN US_PASSPORT US_SSN US_MBI US_NPI'),
  UK: names('UK_NHS UK_NINO UK_PASSPORT UK_POSTCODE UK_VEHICLE_REGISTRATION UK_DRIVING_LICENCE'),
  Spain: names('ES_NIF ES_NIE ES_PASSPORT'),
  Italy: names('IT_FISCAL_CODE IT_DRIVER_LICENSE IT_VAT_CODE IT_PASSPORT IT_IDENTITY_CARD'),
  Poland: names('PL_PESEL'),
  Singapore: names('SG_NRIC_FIN SG_UEN'),
  Australia: names('AU_ABN AU_ACN AU_TFN AU_MEDICARE'),
  India: names('IN_PAN IN_AADHAAR IN_VEHICLE_REGISTRATION IN_VOTER IN_PASSPORT IN_GSTIN'),
  Finland: names('FI_PERSONAL_IDENTITY_CODE'),
  Germany: names(
    'DE_TAX_ID DE_TAX_NUMBER DE_VAT_ID DE_PASSPORT DE_ID_CARD DE_FUEHRERSCHEIN DE_SOCIAL_SECURITY DE_HEALTH_INSURANCE ' +
      'DE_LANR DE_BSNR DE_KFZ DE_HANDELSREGISTER DE_PLZ',
  ),
  Korea: names('KR_RRN KR_FRN KR_PASSPORT KR_DRIVER_LICENSE KR_BRN'),
  Canada: names('CA_SIN'),
  Sweden: names('SE_PERSONNUMMER SE_ORGANISATIONSNUMMER'),
  Thailand: names('TH_TNIN'),
  Turkey: names('TR_NATIONAL_ID TR_LICENSE_PLATE'),
  Nigeria: names('NG_NIN NG_VEHICLE_REGISTRATION'),
  Philippines: names('PH_TIN PH_UMID PH_PASSPORT'),
  'South Africa': names('ZA_ID_NUMBER'),
};

function names(text: string): readonly string[] {
  return text.split(' ');
}
