import { Type, type EntityProperty, type Platform } from '@mikro-orm/core';
import type { Usd } from '../../domain/money.ts';

/**
 * An amount as decimal text of picodollars. For amounts that may exceed 64 bits, such as a budget of a billion dollars.
 * SQL sorts rows by values computed from such amounts, but never sums the amounts of several rows.
 */
export class UsdTextType extends Type<Usd | null, string | null> {
  override convertToDatabaseValue(amount: Usd | null): string | null {
    return amount === null ? null : amount.toString();
  }

  override convertToJSValue(text: string | null): Usd | null {
    return text === null ? null : (BigInt(text) as Usd);
  }

  override getColumnType(property: EntityProperty, platform: Platform): string {
    return platform.getTextTypeDeclarationSQL(property);
  }
}
