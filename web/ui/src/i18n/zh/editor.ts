import type { editor as english } from '../en/editor';
import type { Translation } from '../translation';

export const editor: Translation<typeof english> = {
  help: '按 Ctrl+空格键可获取 Chart 提供的建议。',
  sound: '未发现问题。',
  problem: '第 {{line}} 行：{{message}}。',
  more_other: '另有 {{count}} 个问题。',
  top: '值',
  rules: {
    mapping: '值必须是键值映射',
    type: '{{path}} 必须是{{allowed}}',
    enum: '{{path}} 必须是以下之一：{{allowed}}',
    const: '{{path}} 必须是 {{allowed}}',
    required: '缺少 {{allowed}}',
    minimum: '{{path}} 不得小于 {{allowed}}',
    maximum: '{{path}} 不得大于 {{allowed}}',
    pattern: '{{path}} 必须匹配正则表达式 {{allowed}}',
    false: 'Chart 的 Schema 中没有 {{path}}',
  },
  types: {
    array: '列表',
    boolean: '布尔值',
    integer: '整数',
    null: ' null',
    number: '数字',
    object: '映射',
    string: '字符串',
  },
  or: '或',
};
