import type { editor as english } from '../en/editor';
import type { Translation } from '../translation';

export const editor: Translation<typeof english> = {
  help: '按 Ctrl+空格 可查看 Chart 提供的键和值。',
  sound: '未发现问题。',
  problem: '第 {{line}} 行：{{message}}。',
  more_other: '另有 {{count}} 个问题。',
  rules: {
    mapping: '值须为键及其内容',
    type: '类型须为 {{allowed}}',
    enum: '须为以下之一：{{allowed}}',
    const: '须为 {{allowed}}',
    required: '缺少 {{allowed}}',
    minimum: '不得小于 {{allowed}}',
    maximum: '不得大于 {{allowed}}',
    pattern: '须符合模式 {{allowed}}',
    false: 'Chart 的模式中没有此键',
  },
};
