import type { preview as english } from '../en/preview';
import type { Translation } from '../translation';

export const preview: Translation<typeof english> = {
  button: '预览',
  title: '预览',
  running: 'helm 正在渲染 Chart',
  stale: '此预览生成后，表单已更改。',
  failed: 'helm 无法渲染',
  objects_other: 'helm 将向集群提交 {{count}} 个对象。未做任何更改。',
  validating: '正在向 API 服务器查询每个对象',
  valid: 'API 服务器将接受所有对象',
  uncertain: '并非所有对象都能检查',
  refused_other: 'API 服务器将拒绝 {{count}} 个对象',
  verdicts: {
    create: '将创建',
    change: '将更改',
    unchanged: '保持不变',
    refused: '被拒绝',
    unknown: '未检查',
  },
  changesOf: '{{title}} 的变化',
  hook: '钩子',
  hidden: '已隐藏',
  hiddenHelp: 'helm 仅渲染时不显示 Secret。此 Secret 来自 {{source}}。',
  notes: '说明',
};
