/** Close codes of WebSockets (RFC 6455, section 7.4.1). */
export const NORMAL = 1000;
export const GOING_AWAY = 1001;
/** The peer closed without a code. */
export const NO_STATUS = 1005;
export const POLICY = 1008;
export const INTERNAL_ERROR = 1011;
